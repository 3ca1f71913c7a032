/**
 * Parses a cron expression: minute, hour, day of the month, month, day of the week. Supports names, ranges, steps,
 * lists, and macros like `@daily`. When both day fields are restricted, a date needs to match only one of them, as
 * usual in cron.
 */
export interface CronTimes {
  /** The matching hours, in ascending order. */
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  /** Returns true if a date of the wall clock matches. Months are numbered from 1, and Sunday is 0. */
  readonly fitsDay: (day: number, month: number, weekday: number) => boolean;
}

/** A problem in a cron expression, with a message for people. */
export class CronProblem extends Error {
  override readonly name = 'CronProblem';
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** The names of the values `from`, `from + 1`, and so on. */
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields = {
  minute: { name: 'minute', from: 0, to: 59 },
  hour: { name: 'hour', from: 0, to: 23 },
  day: { name: 'day of the month', from: 1, to: 31 },
  month: { name: 'month', from: 1, to: 12, names: months },
  // Sunday is both 0 and 7.
  weekday: { name: 'day of the week', from: 0, to: 7, names: weekdays },
} satisfies Record<string, Field>;

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The maximum number of days of each month. */
const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Parses the expression. Throws a {@link CronProblem} if it is invalid. */
export function parseCron(text: string): CronTimes {
  const given = text.trim().toLowerCase();
  const expression = macros[given] ?? given;
  if (expression.startsWith('@')) {
    throw new CronProblem(`"${given}" is unknown; use one of ${Object.keys(macros).join(', ')}`);
  }
  const parts = expression.split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  if (parts.length !== 5) throw new CronProblem(`it has ${parts.length} fields, not 5`);
  const days = parseField(day, fields.day);
  const wantedMonths = parseField(month, fields.month);
  const ofWeek = new Set([...parseField(weekday, fields.weekday)].map((each) => each % 7));
  const anyDay = day.startsWith('*');
  const anyWeekday = weekday.startsWith('*');
  if (anyWeekday && ![...wantedMonths].some((each) => [...days].some((one) => one <= (longest[each - 1] ?? 0)))) {
    throw new CronProblem('there is no such day in any of its months');
  }
  return {
    hours: inOrder(parseField(hour, fields.hour)),
    minutes: inOrder(parseField(minute, fields.minute)),
    fitsDay: (dayOfMonth, monthOfYear, dayOfWeek) => {
      if (!wantedMonths.has(monthOfYear)) return false;
      const [fitsDate, fitsWeekday] = [days.has(dayOfMonth), ofWeek.has(dayOfWeek)];
      return anyDay || anyWeekday ? fitsDate && fitsWeekday : fitsDate || fitsWeekday;
    },
  };
}

function parseField(text: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(',')) for (const value of parseItem(item, field)) values.add(value);
  return values;
}

/** Parses `*`, `a` or `a-b`, each with an optional step; `a/n` counts from `a` to the end of the range. */
function* parseItem(item: string, field: Field): Generator<number> {
  const [, range = '', first, last, step] = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(item) ?? [];
  if (range === '') throw new CronProblem(`the ${field.name} "${item}" is not understood`);
  const from = first === undefined ? field.from : parseValue(first, field);
  const toTheEnd = first === undefined || step !== undefined;
  const end = last === undefined ? (toTheEnd ? Math.max(from, lastOf(field)) : from) : parseValue(last, field);
  if (end < from) throw new CronProblem(`the ${field.name} "${item}" ends before it begins`);
  const every = step === undefined ? 1 : Number(step);
  if (every === 0) throw new CronProblem(`the ${field.name} "${item}" has a step of 0`);
  for (let value = from; value <= end; value += every) yield value;
}

/** Returns the last value of a field. For weekdays it is 6, because 7 is a second number for Sunday. */
function lastOf({ to, names }: Field): number {
  return names === weekdays ? 6 : to;
}

function parseValue(text: string, { name, from, to, names = [] }: Field): number {
  const named = names.indexOf(text);
  const value = named === -1 ? (/^\d{1,2}$/.test(text) ? Number(text) : NaN) : from + named;
  if (value >= from && value <= to) return value;
  throw new CronProblem(`the ${name} "${text}" is not between ${from} and ${to}`);
}

function inOrder(values: Set<number>): readonly number[] {
  return [...values].toSorted((a, b) => a - b);
}
