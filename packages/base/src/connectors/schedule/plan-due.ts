/** Computes which times of an entry are due now. A pure function. */
import type { OpenEntry } from './open-entries.ts';
import { newestTime } from './next-time.ts';

/** A time that is at most this late does not count as missed. */
export const GRACE_MS = 60_000;
/** The maximum number of times per entry and round. */
const MOST_AT_ONCE = 100;

/**
 * `handled` is the moment up to which all times have been handled. Returns the times to emit, oldest first. There is at
 * most one time, unless `catchUp` is `all`. Missed times up to `leftOutUntil` are skipped, because the entry does not
 * catch up.
 */
export function planDue(
  { next, catchUp }: Pick<OpenEntry, 'next' | 'catchUp'>,
  handled: number,
  now: number,
): { readonly times: readonly number[]; readonly leftOutUntil?: number } {
  if (catchUp === 'all') return { times: allTimes(next, handled, now) };
  const newest = newestTime(next, handled, now);
  if (newest === undefined) return { times: [] };
  if (catchUp === 'last') return { times: [newest] };
  if (newest < now - GRACE_MS) return { times: [], leftOutUntil: newest };
  // Only the newest time is emitted. Without this, all earlier times would be emitted at once.
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
