/** The lines of one turn's file as what a replay needs; or why they are not enough. Pure. */
import type { ChainRecord } from './chain-record.ts';
import { assembleTurn } from './assemble-turn.ts';
import type { Recording } from './recording.ts';
import type { BeginningLine, EffectLine, TraceLine } from './trace-lines.ts';

/** Why a turn cannot be replayed: `unfinished` may change. */
export interface NoRecording {
  readonly problem: string;
  readonly isUnfinished?: true;
}

export function assembleRecording(lines: readonly TraceLine[]): Recording | NoRecording {
  const turn = assembleTurn(lines);
  if (turn === undefined) return { problem: 'its beginning is not there' };
  const { turnId, startedAt, chain, missing, resumes, finishReason } = turn;
  if (finishReason === undefined) {
    return { problem: 'nothing is recorded of its end: it runs, or a crash interrupted it', isUnfinished: true };
  }
  if (/^(E_CANCELLED|E_TURN_TIMEOUT)\b/.test(turn.error ?? '')) {
    return { problem: 'it was cancelled or out of time, and nobody knows where its layers would have gone' };
  }
  if (resumes > 0) return { problem: 'it was interrupted and went on in another process' };
  if (missing.isCut) return { problem: 'its file is full, and what came after is missing' };
  if (missing.lines > 0) return { problem: `${missing.lines} records are missing or damaged` };
  if (missing.chains > 0 || hasMoreLayers(chain)) return { problem: 'it had more chains and layers than are recorded' };
  const beginning = lines.find((line): line is BeginningLine => line.type === 'beginning');
  if (beginning === undefined) return { problem: 'a version of goondan recorded it that could not replay' };
  const effects = lines.filter((line): line is EffectLine => line.type === 'effect');
  const long = effects.find(({ outcome }) => outcome === undefined);
  if (long !== undefined) return { problem: `an answer is too long to be kept (${long.kind} ${long.key})` };
  const { event, extensions } = beginning;
  return { turnId, startedAt, event, extensions, chain, effects: effects.map(({ type: _, ...effect }) => effect) };
}

function hasMoreLayers({ layersMore = 0, inside }: ChainRecord): boolean {
  return layersMore > 0 || inside.some(hasMoreLayers);
}
