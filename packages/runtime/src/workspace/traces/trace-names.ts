/**
 * The names of trace files: `<when>~<trace>~<turn>.jsonl`, so that a folder is its own index. The name tells the start
 * time, the trace and the turn without opening the file, and sorted names are turns in order.
 */
import { pathSegment } from '../layout/path-segment.ts';

export interface NamedTurn {
  readonly turnId: string;
  readonly traceId: string;
  readonly startedAt: Date;
}

export interface TraceName {
  readonly name: string;
  /** Digits, from the year to the millisecond. */
  readonly when: string;
  /** The ids as path segments, which may differ from the ids. */
  readonly trace: string;
  readonly turn: string;
}

export function traceName({ turnId, traceId, startedAt }: NamedTurn): string {
  const when = startedAt.toISOString().replaceAll(/\D/g, '');
  return `${when}~${pathSegment(traceId)}~${pathSegment(turnId)}.jsonl`;
}

/** Returns `undefined` for the name of another file. */
export function readTraceName(name: string): TraceName | undefined {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)\.jsonl$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { name, when, trace, turn };
}
