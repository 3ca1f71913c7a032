/** Assembles a turn from the lines of its trace file. The result counts the parts that are missing. Pure. */
import { endingOf, type ExtensionStatusChanged } from '@goondan/types';
import { defined } from '../json/defined.ts';
import type { EffectRecord } from './effect-record.ts';
import { reachedBy } from './reached-by.ts';
import type { LineOf, TraceLine } from './trace-lines.ts';
import type { ChainRecord, TurnSummary, TurnTrace } from './turn-trace.ts';

/** Returns `undefined` when the first line is missing. */
export function assembleTurn(lines: readonly TraceLine[]): TurnTrace | undefined {
  const runs = splitRuns(lines);
  const summary = summarise(lines);
  if (summary === undefined) return undefined;
  const missing = {
    chains: sum(lines.map((line) => (line.type === 'end' ? (line.chainsMore ?? 0) : 0))),
    lines: sum(lines.map((line) => (line.type === 'dropped' ? line.count : 0))),
    isCut: lines.some(({ type }) => type === 'cut'),
  };
  const turnPlans = turnPlansOf(runs);
  const extensions = newestStatuses(lines);
  return {
    ...summary,
    chain: joinRuns(runs, summary),
    ...(turnPlans.length > 1 && { turnPlans }),
    ...(extensions.length > 0 && { extensions }),
    missing,
  };
}

function newestStatuses(lines: readonly TraceLine[]): readonly ExtensionStatusChanged[] {
  const statuses = lines.flatMap((line) => (line.type === 'status' ? [line.status] : []));
  return [...new Map(statuses.map((status) => [status.extension, status])).values()];
}

/** Summarises a turn, even if only its first and last lines are given. */
export function summarise(lines: readonly TraceLine[]): TurnSummary | undefined {
  const starts = lines.filter((line) => line.type === 'start');
  const [first] = starts;
  if (first === undefined) return undefined;
  const { turnId, agentName, instanceKey, traceId, spanId, parentSpanId, source, input } = first;
  const last = lines.findLast(({ type }) => type === 'start' || type === 'end');
  return {
    turnId,
    agentName,
    instanceKey,
    traceId,
    spanId,
    startedAt: first.time,
    ...defined({ parentSpanId, source, input }),
    ...(last?.type === 'end' ? summariseEnd(first, last) : {}),
    resumes: starts.filter(({ resumed }) => resumed === true).length,
  };
}

function summariseEnd(first: LineOf<'start'>, end: LineOf<'end'>) {
  const { finishReason, truncated, output, stepCount, usage, called, took, error, place, stack, durationMs } = end;
  // The recorded duration covers only the last run. So for a turn that was resumed after a crash, the difference of the
  // dates is used.
  const sinceFirst = Date.parse(end.time) - Date.parse(first.time);
  return {
    durationMs: sinceFirst > durationMs + 1_000 ? sinceFirst : durationMs,
    finishReason,
    ending: endingOf(end),
    ...(truncated === true ? { truncated } : {}),
    stepCount,
    ...defined({ output, usage, called, took, error, place, stack }),
  };
}

interface Run {
  readonly start: LineOf<'start'>;
  /** For each chain number, the line that was written last. */
  readonly chains: Map<number, LineOf<'chain'>>;
  /** The effects of this run and of the earlier ones: a resumed turn does not repeat an effect that was recorded. */
  readonly effects: Map<string, EffectRecord>;
  /** The plan with which the turn began, if another process resumed it. */
  firstPlan?: string | undefined;
}

function splitRuns(lines: readonly TraceLine[]): Run[] {
  const runs: Run[] = [];
  for (const line of lines) {
    if (line.type === 'start') {
      runs.push({ start: line, chains: new Map(), effects: new Map(runs.at(-1)?.effects) });
    }
    const run = runs.at(-1);
    if (line.type === 'effect') run?.effects.set(line.key, line);
    if (line.type === 'chain') run?.chains.set(line.n, line);
    if (line.type === 'resume' && run !== undefined) run.firstPlan = line.point?.plan;
  }
  return runs;
}

/** Lists the plans of the turn chains, each once in a row. A crash may have lost the chain of the first run. */
function turnPlansOf(runs: readonly Run[]): string[] {
  const [second] = runs.slice(1);
  const plans = [second?.firstPlan, ...runs.map(({ chains }) => chains.get(ROOT)?.chain.plan)];
  return plans.filter((plan) => plan !== undefined).filter((plan, index, all) => plan !== all[index - 1]);
}

/** Joins the runs into one chain for the turn: the chain of the last run, containing the chains of all runs. */
function joinRuns(runs: readonly Run[], { turnId, agentName, spanId, startedAt }: TurnSummary): ChainRecord {
  const roots = runs.map((run) => nest(run, Date.parse(run.start.time) - Date.parse(startedAt)));
  const unknown = { kind: 'turn', label: agentName, id: turnId, spanId, totalMs: 0, layers: [], called: [] } as const;
  const last = roots.at(-1)?.root ?? { ...unknown, isUnfinished: true };
  return { ...last, startMs: 0, inside: roots.flatMap(({ inside }) => inside) };
}

/**
 * Nests the chains of a run. The result has the turn chain, if it was written, and the chains inside it. `offsetMs`:
 * the time from the start of the turn's first run to the start of this run.
 */
function nest({ chains, effects }: Run, offsetMs: number) {
  const children = new Map<number, LineOf<'chain'>[]>();
  for (const line of [...chains.values()].toSorted((one, other) => one.n - other.n)) {
    // The parent may be missing, if the file reached its limit or the disk failed. A parent begins before its child.
    const { n, parent = ROOT } = line;
    const at = parent < n && chains.has(parent) ? parent : ROOT;
    if (n !== ROOT) children.set(at, [...(children.get(at) ?? []), line]);
  }
  const inside = (n: number): ChainRecord[] =>
    (children.get(n) ?? []).map(({ n: own, chain }) => ({
      ...chain,
      ...reachedBy(chain, effects),
      startMs: chain.startMs + offsetMs,
      ...(chain.askedMs === undefined ? {} : { askedMs: chain.askedMs + offsetMs }),
      inside: inside(own),
    }));
  return { root: chains.get(ROOT)?.chain, inside: inside(ROOT) };
}

/** The first chain of a run is the turn chain. */
const ROOT = 0;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
