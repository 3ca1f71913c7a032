/** The times of an entry that are due now: pure. */
import type { OpenEntry } from './open-entries.ts';
import { newestTime } from './next-time.ts';

/** A time that is no later than this is not missed. */
export const GRACE_MS = 60_000;
/** Times of one entry in one round. */
const MOST_AT_ONCE = 100;

export interface DuePlan {
  /** The oldest first. Unless the entry catches up with all of them, at most one. */
  readonly times: readonly number[];
  /** Times up to this moment are left out, which nobody asked for; absent when none is. */
  readonly leftOutUntil?: number;
}

/** `handled` is until when everything was dealt with. */
export function planDue({ next, catchUp }: Pick<OpenEntry, 'next' | 'catchUp'>, handled: number, now: number): DuePlan {
  if (catchUp === 'all') return { times: allTimes(next, handled, now) };
  const newest = newestTime(next, handled, now);
  if (newest === undefined) return { times: [] };
  if (catchUp === 'last') return { times: [newest] };
  if (newest < now - GRACE_MS) return { times: [], leftOutUntil: newest };
  // The times before it would all come at once.
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
