import { InvalidArgumentError } from 'commander';
import { localDate } from '../show-time.ts';

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const timeOfDay = /^\d\d:\d\d(:\d\d)?$/;
const dateAndTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads the value of `--since`: a duration until now (`10m`), a time of today (`09:30`), or a date with or without a
 * time. A time without a zone is local. A moment in the future is refused.
 */
export function readSince(text: string, now: Date): Date {
  const since = readDuration(text, now) ?? readTime(text, now);
  if (since === undefined || Number.isNaN(since.getTime())) throw new InvalidArgumentError(FORMS);
  if (since > now) throw new InvalidArgumentError(`It is in the future. ${FORMS}`);
  return since;
}

/**
 * Reads the value of `--since` as a day in UTC: a date is that day, and any other form the day of its moment. A day that has not
 * begun is refused.
 */
export function readSinceDay(text: string, now: Date): string {
  const date = isDate(text) ? text : dayOf(readSince(text, now));
  if (date > dayOf(now))
    throw new InvalidArgumentError(`It is in the future: in UTC, today is ${dayOf(now)}. ${FORMS}`);
  return date;
}

const FORMS =
  'Write how long ago (30s, 10m, 2h, 7d), a time of today (09:30), or a date (2026-01-31, 2026-01-31T09:30Z), for example: --since 7d';

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function readDuration(text: string, now: Date): Date | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  // The pattern allows only these units.
  return count === undefined
    ? undefined
    : new Date(now.getTime() - Number(count) * unitsMs[unit as keyof typeof unitsMs]);
}

function readTime(text: string, now: Date): Date | undefined {
  if (timeOfDay.test(text)) return new Date(`${localDate(now)}T${text}`);
  const [, date, time = '00:00', zone = ''] = dateAndTime.exec(text) ?? [];
  // JavaScript reads a date without a time as UTC, so the time is always written.
  return date === undefined || !isDate(date) ? undefined : new Date(`${date}T${time}${zone}`);
}

/** Returns false for a day that its month does not have, which JavaScript reads as a day of the next month. */
function isDate(date: string): boolean {
  const day = new Date(`${date}T00:00Z`);
  return !Number.isNaN(day.getTime()) && dayOf(day) === date;
}
