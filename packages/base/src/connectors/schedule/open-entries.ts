/** The entries of a schedule, each with a function that computes its times. */
import { GoondanError } from '@goondan/types';
import { cronTimes, everyTimes, type NextTime } from './next-time.ts';
import { CronProblem, parseCron } from './parse-cron.ts';
import type { CatchUp, ScheduleConfig, ScheduleEntry } from './schedule-config.ts';
import { wallClock } from './wall-clock.ts';

export interface OpenEntry {
  readonly entry: ScheduleEntry;
  readonly catchUp: CatchUp;
  readonly next: NextTime;
  /** The entry's rule as text. If it changes, times of the old rule do not count as missed. */
  readonly rule: string;
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MOST_MS = 366 * units.d;

/** Prepares the entries of the config. Throws `E_CONNECTOR_CONFIG` with the name of an invalid entry. */
export function openEntries({ entries, timeZone = 'UTC', catchUp = 'none' }: ScheduleConfig): OpenEntry[] {
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw problem(twice, 'another entry has this name');
  return entries.map((entry) => {
    const zone = entry.timeZone ?? timeZone;
    return {
      entry,
      catchUp: entry.catchUp ?? catchUp,
      next: timesOf(entry, zone),
      rule: entry.cron === undefined ? `every ${entry.every ?? ''}` : `${entry.cron} ${zone}`,
    };
  });
}

function timesOf({ name, cron, every }: ScheduleEntry, zone: string): NextTime {
  if ((cron === undefined) === (every === undefined)) throw problem(name, 'it needs `cron` or `every`, and not both');
  if (every !== undefined) return everyTimes(readDuration(name, every));
  try {
    return cronTimes(parseCron(cron ?? ''), wallClock(zone));
  } catch (error) {
    if (error instanceof CronProblem) throw problem(name, `"${cron ?? ''}" is no cron expression: ${error.message}`);
    if (error instanceof RangeError) throw problem(name, `there is no time zone "${zone}"`);
    throw error;
  }
}

function readDuration(name: string, text: string): number {
  const [, number, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(text) ?? [];
  // The cast is safe: the regular expression allows only these units.
  const ms = Number(number) * units[unit as keyof typeof units];
  if (ms >= 1_000 && ms <= MOST_MS) return ms;
  throw problem(name, `"${text}" is not a time such as 30s, 15m, 2h or 1d, up to 366 days`);
}

function problem(name: string, what: string): GoondanError {
  return new GoondanError('E_CONNECTOR_CONFIG', `The entry "${name}" of the schedule: ${what}.`);
}
