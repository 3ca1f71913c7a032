import { InvalidArgumentError } from 'commander';
import { localDate } from '../show-time.ts';

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const timeOfDay = /^\d\d:\d\d(:\d\d)?$/;
const dateAndTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads the value of `--since`: a duration until now (`10m`), a time of today (`09:30`), or a date with or without a
 * time. A time without a zone is local.
 */
export function readSince(text: string, now: Date): Date {
  const since = readDuration(text, now) ?? readTime(text, now);
  if (since !== undefined && !Number.isNaN(since.getTime())) return since;
  throw new InvalidArgumentError(
    'Write a duration (30s, 10m, 2h, 1d) or a time (09:30, 2026-01-31, 2026-01-31T09:30Z).',
  );
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
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}
