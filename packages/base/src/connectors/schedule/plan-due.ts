/** What is due of an entry now: pure. */
import type { OpenEntry } from './open-entries.ts';
import { newestTime } from './next-time.ts';

/** A time that is no later than this is not missed. */
export const GRACE_MS = 60_000;
/** Of one entry at once. */
const MOST_AT_ONCE = 100;

export interface DuePlan {
  /** The oldest first. */
  readonly times: readonly number[];
  /** Where the looking begins next time, once all of them are dealt with. */
  readonly until: number;
  /** There were times that nobody was there for, and that nobody wants any more. */
  readonly hasMissed: boolean;
}

/** `handled` is until when everything was dealt with. */
export function planDue({ next, catchUp }: Pick<OpenEntry, 'next' | 'catchUp'>, handled: number, now: number): DuePlan {
  const late = now - GRACE_MS;
  const missed = handled < late ? newestTime(next, handled, late) : undefined;
  const times = missed !== undefined && catchUp === 'last' ? [missed] : [];
  let until = Math.max(handled, Math.min(late, now));
  for (let due = next(until); due !== undefined && due <= now && times.length < MOST_AT_ONCE; due = next(due)) {
    times.push(due);
    until = due;
  }
  return { times, until, hasMissed: missed !== undefined && catchUp === 'none' };
}
