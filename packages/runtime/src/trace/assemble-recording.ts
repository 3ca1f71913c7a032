/**
 * Assembles the recording of each run of a turn from the lines of the turn's trace file, or says why the lines are not
 * enough. Pure.
 */
import { assembleTurn, summarise } from './assemble-turn.ts';
import type { ChainRecord } from './turn-trace.ts';
import { haltRun, placeOfHalt } from './halt-run.ts';
import type { Recording } from './recording.ts';
import type { LineOf, TraceLine } from './trace-lines.ts';

export interface RecordedRun {
  readonly startedAt: string;
  /** The index of the first step that the run executed. */
  readonly fromStep: number;
  /** Absent when this run cannot be replayed; in that case, `problem` says why. */
  readonly recording?: Recording;
  readonly problem?: string;
}

/** The runs of a turn in order. The last run produced the result of the turn and always has a recording. */
export interface TurnRuns {
  readonly earlier: readonly RecordedRun[];
  readonly last: RecordedRun & { readonly recording: Recording };
}

/**
 * Returns the runs, or the reason why the turn cannot be replayed. If `isUnfinished` is true, the turn may end later
 * and can be replayed then.
 */
export function assembleRecording(
  lines: readonly TraceLine[],
): TurnRuns | { readonly problem: string; readonly isUnfinished?: true } {
  const runs = splitRuns(lines);
  const [final, ...before] = runs.toReversed();
  if (final === undefined) return { problem: 'its beginning is missing' };
  const recording = assembleRun(final, true);
  if ('problem' in recording) return recording;
  const earlier = before.toReversed().map((run): RecordedRun => {
    const assembled = assembleRun(run, false);
    const about = { startedAt: startOf(run)?.time ?? '', fromStep: firstStepOf(run) };
    return 'problem' in assembled ? { ...about, problem: assembled.problem } : { ...about, recording: assembled };
  });
  return { earlier, last: { startedAt: recording.startedAt, fromStep: firstStepOf(final), recording } };
}

function splitRuns(lines: readonly TraceLine[]): readonly (readonly TraceLine[])[] {
  const runs: TraceLine[][] = [];
  for (const line of lines) {
    if (line.type === 'start') runs.push([line]);
    else runs.at(-1)?.push(line);
  }
  return runs;
}

function assembleRun(
  written: readonly TraceLine[],
  isLast: boolean,
): Recording | Exclude<ReturnType<typeof assembleRecording>, TurnRuns> {
  const { finishReason, error } = summarise(written) ?? {};
  if (isLast && finishReason === undefined) {
    return {
      problem: 'its end is not recorded: it is running, it waits for approval, or it was interrupted',
      isUnfinished: true,
    };
  }
  const run = haltRun(written, finishReason === undefined ? undefined : (error ?? ''));
  if ('problem' in run) return run;
  const { lines, halt } = run;
  const turn = assembleTurn(lines);
  if (turn === undefined) return { problem: 'its beginning is missing' };
  const { turnId, startedAt, chain, missing } = turn;
  if (error?.startsWith('E_DEAD_LETTER') === true) {
    return { problem: 'it became a dead letter and was not run again' };
  }
  if (missing.isCut) return { problem: 'its file reached the size limit, so later records are missing' };
  if (missing.lines > 0) return { problem: `${missing.lines} records are missing or damaged` };
  if (missing.chains > 0 || hasMoreLayers(chain)) {
    return { problem: 'it had more chains and layers than are recorded' };
  }
  const beginning = lines.find((line) => line.type === 'beginning');
  if (beginning === undefined) return { problem: 'its beginning is missing' };
  const resumePoint = resumePointOf(lines);
  if ('problem' in resumePoint) return resumePoint;
  const effects = lines.filter((line) => line.type === 'effect');
  const long = effects.find(({ outcome, key }) => outcome === undefined && halt?.asked.includes(key) !== true);
  if (long !== undefined) return { problem: `an answer is too long to be kept (${long.kind} ${long.key})` };
  const { event, extensions } = beginning;
  return {
    turnId,
    startedAt,
    event,
    extensions,
    ...resumePoint,
    chain,
    effects: effects.map(({ type: _, ...effect }) => effect),
    ...(halt && { halt: { ...halt, ...placeOfHalt(chain) } }),
  };
}

function resumePointOf(lines: readonly TraceLine[]): Pick<Recording, 'resumePoint'> | { readonly problem: string } {
  if (startOf(lines)?.resumed !== true) return {};
  const line = resumeOf(lines);
  if (line === undefined) {
    return { problem: 'another process resumed it, from a state that was not recorded' };
  }
  if (line.point === undefined) {
    return { problem: 'another process resumed it, from a state that is too long to keep' };
  }
  return { resumePoint: line.point };
}

function firstStepOf(lines: readonly TraceLine[]): number {
  return resumeOf(lines)?.point?.nextStep ?? 0;
}

function startOf(lines: readonly TraceLine[]): LineOf<'start'> | undefined {
  return lines.find((line) => line.type === 'start');
}

function resumeOf(lines: readonly TraceLine[]): LineOf<'resume'> | undefined {
  return lines.find((line) => line.type === 'resume');
}

function hasMoreLayers({ layersMore = 0, inside }: ChainRecord): boolean {
  return layersMore > 0 || inside.some(hasMoreLayers);
}
