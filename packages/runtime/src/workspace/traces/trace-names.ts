/**
 * The names of trace files: `<when>~<trace>~<turn>.jsonl`. A name tells the start time, the trace and the turn, so no
 * file has to be opened to find a turn. Sorted names are in the order of the turns.
 */
import { pathSegment } from '../layout/path-segment.ts';

export interface NamedTurn {
  readonly turnId: string;
  readonly traceId: string;
  readonly startedAt: Date;
}

export interface TraceName {
  readonly name: string;
  /** The start time as digits, from the year to the millisecond. */
  readonly when: string;
  /** The ids of trace and turn as path segments, which may differ from the ids themselves. */
  readonly trace: string;
  readonly turn: string;
}

export function traceName({ turnId, traceId, startedAt }: NamedTurn): string {
  const when = startedAt.toISOString().replaceAll(/\D/g, '');
  return `${when}~${pathSegment(traceId)}~${pathSegment(turnId)}.jsonl`;
}

/** Returns `undefined` if it is not the name of a trace file. */
export function readTraceName(name: string): TraceName | undefined {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)\.jsonl$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { name, when, trace, turn };
}
