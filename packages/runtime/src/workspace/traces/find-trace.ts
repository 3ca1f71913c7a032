/**
 * Finds the turn or trace for an id or a prefix of an id, by the names of turns if possible. Ids that are too long for a
 * name, and ids of spans, are searched inside the traces, newest first.
 */
import { GoondanError } from '@goondan/types';
import { turnIdOf } from '../../ports/ids.ts';
import { ambiguousId, findTurnId, matchTyped, shortTurnId, splitRetries, typedTurnIds } from '../../ports/turn-ids.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { collectTurns, type RecordedTurn, type TraceSource } from './trace-source.ts';

/** The maximum number of traces to open in a search. */
const MOST_OPENED = 2_000;

export interface FoundTrace {
  /** The trace id, in the form used in names of turns. */
  readonly trace: string;
  /** The span id of the turn; absent when the whole trace is meant. */
  readonly turn?: string;
  /** The event that was meant, if it has no turn of its own: the turn took its input while it ran. */
  readonly took?: string;
}

/** Finds a trace or turn. **Errors** — `E_TRACE_UNKNOWN`, `E_TRACE_AMBIGUOUS`. */
export async function findTrace(source: TraceSource, id: string): Promise<FoundTrace> {
  const exact = await collectTurns(source.list({ turns: typedTurnIds(id).map(pathSegment) }));
  if (exact.length > 0) return theOnly(id, [], await summaries(exact));
  for await (const { trace } of source.list({ trace: pathSegment(id) })) return { trace };
  const all = await collectTurns(source.list());
  const traces = [...new Set(all.map(({ trace }) => trace))].filter((trace) => trace.startsWith(id));
  const turns = await beginningWith(all, id);
  if (traces.length + turns.length > 0) return theOnly(id, traces, turns);
  return (await findTaken(all, id)) ?? theOnly(id, [], []);
}

/**
 * Finds the turn that took the input of an event while it ran. **Errors** — `E_TRACE_AMBIGUOUS`.
 */
async function findTaken(all: readonly RecordedTurn[], id: string): Promise<FoundTrace | undefined> {
  const found = new Map<string, FoundTrace>();
  for (const recorded of all.slice(0, MOST_OPENED)) {
    const turn = await recorded.summary();
    if (turn === undefined) continue;
    // The end of a turn lists what it took. A turn without an end has it in its steps.
    const took = turn.took ?? (turn.finishReason === undefined ? takenIn(await recorded.lines()) : []);
    for (const eventId of took) {
      const turnId = turnIdOf(eventId);
      // The newest turn comes first. A turn before it that took the same input was dropped.
      if (!found.has(turnId)) found.set(turnId, { trace: recorded.trace, turn: turn.spanId, took: eventId });
    }
  }
  const turnId = findTurnId(id, found.keys());
  return turnId === undefined ? undefined : found.get(turnId);
}

function takenIn(lines: readonly TraceLine[]): readonly string[] {
  return lines.flatMap((line) => (line.type === 'chain' ? (line.chain.took ?? []) : [])).map(({ eventId }) => eventId);
}

/**
 * Finds the latest turn that was not requested by another agent, or else the latest turn. **Errors** —
 * `E_TRACE_UNKNOWN`.
 */
export async function findLatestTurn(source: TraceSource): Promise<FoundTrace> {
  let latest: FoundTrace | undefined;
  let opened = 0;
  for await (const recorded of source.list()) {
    const turn = await recorded.summary();
    if (turn !== undefined) {
      const found = { trace: recorded.trace, turn: turn.spanId };
      if (!isOfAgent(turn)) return found;
      latest ??= found;
    }
    opened += 1;
    if (opened >= MOST_OPENED) break;
  }
  if (latest === undefined) throw new GoondanError('E_TRACE_UNKNOWN', 'There are no recorded turns.', { suggestion });
  return latest;
}

const suggestion = 'Ask the swarm something. Nothing is recorded where `policy.trace` or `GOONDAN_TRACE` says `off`.';

/** Returns true if another agent requested the turn. */
export function isOfAgent({ source }: TurnSummary): boolean {
  return source.kind === 'agent';
}

async function beginningWith(turns: readonly RecordedTurn[], id: string): Promise<TurnSummary[]> {
  const mayMean = matchTyped(id);
  // The name of a turn does not end with `~retry`.
  const mayBeNamed = matchTyped(splitRetries(id)[0]);
  const named = await summaries(turns.filter(({ turn }) => mayBeNamed(turn)).slice(0, MOST_OPENED));
  const meant = named.filter(({ turnId }) => mayMean(turnId));
  if (meant.length > 0) return meant;
  const opened = await summaries(turns.slice(0, MOST_OPENED));
  return opened.filter(({ turnId, spanId }) => mayMean(turnId) || spanId.startsWith(id));
}

async function summaries(turns: readonly RecordedTurn[]): Promise<TurnSummary[]> {
  const read = await Promise.all(turns.map((turn) => turn.summary()));
  return read.filter((turn) => turn !== undefined);
}

function theOnly(id: string, traces: readonly string[], turns: readonly TurnSummary[]): FoundTrace {
  const [trace] = traces;
  const [turn] = turns;
  if (traces.length === 1 && turns.length === 0 && trace !== undefined) return { trace };
  if (traces.length === 0 && turns.length === 1 && turn !== undefined) {
    return { trace: pathSegment(turn.traceId), turn: turn.spanId };
  }
  throw traces.length + turns.length === 0 ? unknownTrace(id) : ambiguous(id, traces, turns);
}

export function unknownTrace(id: string): GoondanError {
  return new GoondanError('E_TRACE_UNKNOWN', `Nothing is recorded of a turn or a trace "${id}".`);
}

/** Makes the error for an ambiguous id. It lists each candidate with an id that only this candidate has. */
function ambiguous(id: string, traces: readonly string[], turns: readonly TurnSummary[]): GoondanError {
  const turnIds = turns.map(({ turnId }) => turnId);
  const idOf = ({ turnId, spanId }: TurnSummary) => {
    const isShared = turnIds.filter((other) => other === turnId).length > 1;
    return isShared || spanId.startsWith(id) ? spanId : shortTurnId(turnId, turnIds);
  };
  const candidates = [...traces, ...turns];
  return ambiguousId(id, candidates, (candidate) =>
    typeof candidate === 'string'
      ? `trace ${candidate}`
      : `${idOf(candidate)} (${candidate.agentName} ${candidate.instanceKey}, ${candidate.startedAt})`,
  );
}
