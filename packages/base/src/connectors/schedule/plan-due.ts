/** Computes the times of an entry that are due now. Pure. */
import type { OpenEntry } from './open-entries.ts';
import { newestTime } from './next-time.ts';

/** A time that is late by at most this is not missed. */
export const GRACE_MS = 60_000;
/** The most times of one entry in one round. */
const MOST_AT_ONCE = 100;

export interface DuePlan {
  /** The oldest first. At most one, unless the entry catches up with all of them. */
  readonly times: readonly number[];
  /** Missed times up to this moment are skipped, because the entry does not catch up; absent when there are none. */
  readonly leftOutUntil?: number;
}

/** `handled` is the moment up to which all times were handled. */
export function planDue({ next, catchUp }: Pick<OpenEntry, 'next' | 'catchUp'>, handled: number, now: number): DuePlan {
  if (catchUp === 'all') return { times: allTimes(next, handled, now) };
  const newest = newestTime(next, handled, now);
  if (newest === undefined) return { times: [] };
  if (catchUp === 'last') return { times: [newest] };
  if (newest < now - GRACE_MS) return { times: [], leftOutUntil: newest };
  // The earlier times would all come at once.
  const isOnly = next(handled) === newest;
  return { times: [newest], ...(isOnly ? {} : { leftOutUntil: newest - 1 }) };
}

function allTimes(next: OpenEntry['next'], handled: number, now: number): number[] {
  const times: number[] = [];
  for (let due = next(handled); due !== undefined && due <= now && times.length < MOST_AT_ONCE; due = next(due)) {
    times.push(due);
  }
  return times;
}
