/** Reads recorded turns, for `gdn trace`, Studio or a program. Takes no lock, so it also works while the swarm runs. */
import { GoondanError } from '@goondan/types';
import { assembleTrace } from '../../trace/assemble-trace.ts';
import { assembleTurn } from '../../trace/assemble-turn.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';
import type { StorePlace } from '../layout/instance-paths.ts';
import { findLatestTurn, findTrace } from './find-trace.ts';
import { collectTurns, traceFiles, type TraceSource } from './trace-source.ts';

export interface ListTurnsOptions {
  /** The maximum number of turns; 20 when absent. */
  readonly last?: number;
  readonly agentName?: string;
  readonly instanceKey?: string;
}

/** Lists the latest turns of a workspace, newest first. **Errors** — `E_STORE_READ`. */
export function listTurns(place: StorePlace, options: ListTurnsOptions = {}): Promise<TurnSummary[]> {
  return listTurnsOf(traceFiles(place), options);
}

/** Like `listTurns`, for traces that are kept anywhere. */
export async function listTurnsOf(source: TraceSource, options: ListTurnsOptions = {}): Promise<TurnSummary[]> {
  const { last = 20, agentName, instanceKey } = options;
  const turns: TurnSummary[] = [];
  if (last <= 0) return turns;
  for await (const recorded of source.list(agentName === undefined ? {} : { agentName })) {
    const turn = await recorded.summary();
    if (turn === undefined || (agentName ?? turn.agentName) !== turn.agentName) continue;
    if ((instanceKey ?? turn.instanceKey) === turn.instanceKey) turns.push(turn);
    if (turns.length >= last) break;
  }
  return turns;
}

export interface ReadTrace {
  readonly traceId: string;
  /** The requested turn, or the turns of the trace that were not requested by another agent; oldest first. */
  readonly turns: readonly TurnTrace[];
  /** The requested event, if it has no turn of its own: the turn took its input while it ran. */
  readonly took?: string;
}

/** The maximum number of turns of one trace. If a trace has more, the newest turns are left out. */
const MOST_TURNS = 500;

/**
 * Reads a turn, or all turns of a trace. A turn that another agent requested is nested inside the call that requested
 * it.
 *
 * **Rules** — `id` is the id of a turn, a trace, a turn's span or its event, or of an event that the turn took
 * while it ran, or a unique prefix of such an id. Without
 * an id, reads the latest turn that was not requested by another agent.
 * **Errors** — `E_TRACE_UNKNOWN`; `E_TRACE_AMBIGUOUS` with the candidates; `E_STORE_READ`.
 */
export function readTurnTrace(place: StorePlace, id?: string): Promise<ReadTrace> {
  return readTraceOf(traceFiles(place), id);
}

/** Like `readTurnTrace`, for traces that are kept anywhere. */
export async function readTraceOf(source: TraceSource, id?: string): Promise<ReadTrace> {
  const found = id === undefined ? await findLatestTurn(source) : await findTrace(source, id);
  const ofTrace = (await collectTurns(source.list({ trace: found.trace }))).toReversed();
  const turns: TurnTrace[] = [];
  for (const recorded of ofTrace.slice(0, MOST_TURNS)) {
    const turn = assembleTurn(await recorded.lines());
    if (turn !== undefined) turns.push(turn);
  }
  const [first] = turns;
  const wanted = assembleTrace(turns, found.turn);
  // The trace was found, but may have been deleted since.
  if (first === undefined || wanted.length === 0) {
    throw new GoondanError('E_TRACE_UNKNOWN', `The recording of "${id ?? 'last'}" is gone.`);
  }
  return { traceId: first.traceId, turns: wanted, ...(found.took !== undefined && { took: found.took }) };
}
