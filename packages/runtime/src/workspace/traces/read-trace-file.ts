/** Reads the trace of one turn, completely or only its beginning and end, even while it is being written. */
import type { Fs } from '../../ports/fs.ts';
import { assembleTurn, summarise } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';
import { linesOfTurn, type TracePiece } from './trace-segment.ts';

/** The number of bytes to read at each end of a trace, which is enough for the first line and for the last lines. */
const END_BYTES = 16 * 1024;

/** Reads the trace of a turn. Returns `undefined` when it was deleted or has no lines. */
export async function readTrace(fs: Fs, pieces: readonly TracePiece[]): Promise<TurnTrace | undefined> {
  return assembleTurn(await readTraceLines(fs, pieces));
}

export async function readTraceLines(fs: Fs, pieces: readonly TracePiece[]): Promise<TraceLine[]> {
  const lines: TraceLine[] = [];
  for (const piece of pieces) lines.push(...(await readPiece(fs, piece)));
  return lines;
}

/** Reads only the beginning and the end of the trace. */
export async function readTraceSummary(fs: Fs, pieces: readonly TracePiece[]): Promise<TurnSummary | undefined> {
  const [first] = pieces;
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const stat = await fs.stat(last.path);
  if (stat === undefined) return undefined;
  const to = Math.min(last.to, stat.size);
  if (pieces.length === 1 && to - first.from <= 2 * END_BYTES) return summarise(await readTraceLines(fs, pieces));
  const [start] = await readPiece(fs, { ...first, to: Math.min(first.to, first.from + END_BYTES) });
  const end = await readPiece(fs, { ...last, from: Math.max(last.from, to - END_BYTES), to });
  // A run that began in the unread middle of the trace is missed, but the end of the last run is always in `end`.
  return summarise([...(start === undefined ? [] : [start]), ...end]);
}

async function readPiece(fs: Fs, { path, from, to, n }: TracePiece): Promise<TraceLine[]> {
  const length = Number.isFinite(to) ? to - from : undefined;
  const text = new TextDecoder().decode(await fs.read(path, from, length));
  return decodeTraceLines(n === undefined ? text : linesOfTurn(text, n));
}
