/**
 * The names of trace files: `<when>~<trace>~<turn>.jsonl`, so that a folder is its own index. When a turn began, in which
 * trace and which one it is can be told without opening anything, and names in order are turns in order.
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
  /** The ids as parts of a path: not always the ids themselves. */
  readonly trace: string;
  readonly turn: string;
}

export function traceName({ turnId, traceId, startedAt }: NamedTurn): string {
  const when = startedAt.toISOString().replaceAll(/\D/g, '');
  return `${when}~${pathSegment(traceId)}~${pathSegment(turnId)}.jsonl`;
}

/** `undefined` for a file of somebody else. */
export function readTraceName(name: string): TraceName | undefined {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)\.jsonl$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { name, when, trace, turn };
}
