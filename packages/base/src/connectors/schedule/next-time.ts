/** Computes when an entry of a schedule is due: the next time after a moment, and the newest time up to a moment. */
import type { CronTimes } from './parse-cron.ts';
import type { wallClock } from './wall-clock.ts';

/** Returns the first time after `moment`; `undefined` when the rule matches no time in the next eight years. */
export type NextTime = (moment: number) => number | undefined;

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
/** How many days to search for a matching date. Leap days are at most eight years apart. */
const MOST_DAYS = 8 * 366 + 2;

/**
 * Returns the times of a cron rule. Each matching minute of the wall clock is due once. See `wall-clock.ts` for minutes
 * that occur twice or never.
 */
export function cronTimes(cron: CronTimes, clock: ReturnType<typeof wallClock>): NextTime {
  return (moment) => {
    // A later wall time is never an earlier moment, so all times of earlier days are past.
    const first = Math.floor(clock.toWall(moment) / DAY) * DAY;
    for (let day = first; day <= first + MOST_DAYS * DAY; day += DAY) {
      if (!isDay(cron, day)) continue;
      for (const hour of cron.hours) {
        // The last minute of the hour is checked first, so that hours in the past are skipped quickly.
        if (clock.toMoment(day + hour * HOUR + (cron.minutes.at(-1) ?? 0) * MINUTE) <= moment) continue;
        for (const minute of cron.minutes) {
          const due = clock.toMoment(day + hour * HOUR + minute * MINUTE);
          if (due > moment) return due;
        }
      }
    }
    return undefined;
  };
}

/** Returns the multiples of `everyMs` since 1970, so that a restart does not shift the times. */
export function everyTimes(everyMs: number): NextTime {
  return (moment) => (Math.floor(moment / everyMs) + 1) * everyMs;
}

/** Returns the newest time after `after` and up to `until`. Searches backwards in growing steps. */
export function newestTime(next: NextTime, after: number, until: number): number | undefined {
  for (let back = HOUR; ; back *= 2) {
    const from = Math.max(after, until - back);
    let newest: number | undefined;
    for (let due = next(from); due !== undefined && due <= until; due = next(due)) newest = due;
    if (newest !== undefined || from <= after) return newest;
  }
}

function isDay({ fitsDay }: CronTimes, day: number): boolean {
  const date = new Date(day);
  return fitsDay(date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay());
}
