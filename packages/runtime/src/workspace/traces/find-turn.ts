import type { TurnSummary } from '../../trace/turn-trace.ts';
import { findLatestTurn, findTrace, isOfAgent, unknownTrace } from './find-trace.ts';
import type { RecordedTurn, TraceSource } from './trace-source.ts';

/**
 * Finds one recorded turn. For a trace id, it is the last turn of the trace that was not requested by another agent.
 * Without an id, it is the latest such turn. **Errors** — `E_TRACE_UNKNOWN`, `E_TRACE_AMBIGUOUS`.
 */
export async function findTurn(source: TraceSource, id: string | undefined) {
  const found = id === undefined ? await findLatestTurn(source) : await findTrace(source, id);
  const turns: { readonly recorded: RecordedTurn; readonly turn: TurnSummary }[] = [];
  for await (const recorded of source.list({ trace: found.trace })) {
    const turn = await recorded.summary();
    if (turn !== undefined) turns.push({ recorded, turn });
  }
  const wanted =
    found.turn === undefined
      ? (turns.find(({ turn }) => !isOfAgent(turn)) ?? turns[0])
      : turns.find(({ turn }) => turn.spanId === found.turn);
  // The trace was found, but may have been deleted since.
  if (wanted === undefined) throw unknownTrace(id ?? 'last');
  return wanted;
}
