/** Computes when an entry of a schedule is due: the next time after a moment, and the newest one before another. */
import type { CronTimes } from './parse-cron.ts';
import type { WallClock } from './wall-clock.ts';

/** Returns the first time after `moment`; `undefined` when there is none for years. */
export type NextTime = (moment: number) => number | undefined;

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Leap days are at most eight years apart. */
const MOST_DAYS = 8 * 366 + 2;

/** Each matching minute of the wall clock is due once; `wall-clock.ts` says how for those that come twice or never. */
export function cronTimes(cron: CronTimes, clock: WallClock): NextTime {
  return (moment) => {
    // Later wall times are never earlier moments, so all times of the days before are past.
    const first = Math.floor(clock.toWall(moment) / DAY) * DAY;
    for (let day = first; day <= first + MOST_DAYS * DAY; day += DAY) {
      if (!isDay(cron, day)) continue;
      for (const hour of cron.hours) {
        // The last minute of an hour first: most of the hours here are past.
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

/** Returns every multiple of `everyMs` since 1970, so that a restart changes nothing. */
export function everyTimes(everyMs: number): NextTime {
  return (moment) => (Math.floor(moment / everyMs) + 1) * everyMs;
}

/** Returns the newest time after `after` and not after `until`; searches back in growing steps. */
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
