/**
 * The names of trace files: `<when>~<trace>~<turn>.jsonl`. A name tells the start time, the trace and the turn, so no
 * file has to be opened to find a turn. Sorted names are in the order of the turns.
 */
import { pathSegment } from '../layout/path-segment.ts';

export function traceName({
  turnId,
  traceId,
  startedAt,
}: {
  readonly turnId: string;
  readonly traceId: string;
  readonly startedAt: Date;
}): string {
  const when = startedAt.toISOString().replaceAll(/\D/g, '');
  return `${when}~${pathSegment(traceId)}~${pathSegment(turnId)}.jsonl`;
}

/**
 * Returns `undefined` if it is not the name of a trace file. `when`: the start time as digits, from the year to the
 * millisecond. `trace` and `turn`: their ids as path segments, which may differ from the ids themselves.
 */
export function readTraceName(name: string) {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)\.jsonl$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { when, trace, turn };
}
