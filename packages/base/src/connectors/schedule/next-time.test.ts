// Compares the results with a simple oracle that does not compute with days. The oracle walks through every minute and
// reads the wall clock.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { cronTimes, everyTimes, newestTime } from './next-time.ts';
import { parseCron } from './parse-cron.ts';
import { wallClock } from './wall-clock.ts';

const MINUTE = 60_000;

/**
 * Lists all times of `cron` after `from` and up to `to`. If the clock goes back, a repeated minute counts once. If the
 * clock goes forward, a skipped minute counts at the moment of the change.
 */
function walk(text: string, timeZone: string, from: number, to: number): number[] {
  const cron = parseCron(text);
  const fits = (wall: number) => {
    const date = new Date(wall);
    return (
      cron.minutes.includes(date.getUTCMinutes()) &&
      cron.hours.includes(date.getUTCHours()) &&
      cron.fitsDay(date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay())
    );
  };
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const wallAt = (moment: number) => Date.parse(`${format.format(moment).replace(' ', 'T')}Z`);
  const times: number[] = [];
  // The walk starts two days earlier, so that it knows which minutes of the wall clock have already passed.
  let latest = wallAt(from - 2 * 1_440 * MINUTE);
  for (let moment = from - 2 * 1_440 * MINUTE + MINUTE; moment <= to; moment += MINUTE) {
    const wall = wallAt(moment);
    let isDue = false;
    for (let each = latest + MINUTE; each <= wall; each += MINUTE) isDue ||= fits(each);
    latest = Math.max(latest, wall);
    if (isDue && moment > from) times.push(moment);
  }
  return times;
}

function list(text: string, timeZone: string, from: number, to: number): number[] {
  const next = cronTimes(parseCron(text), wallClock(timeZone));
  const times: number[] = [];
  for (let due = next(from); due !== undefined && due <= to; due = next(due)) times.push(due);
  return times;
}

const iso = (times: readonly number[]) => times.map((time) => new Date(time).toISOString());
const at = (text: string) => Date.parse(text);

/** Moments at which clocks change: forward, back, by half an hour, at midnight, by two hours, by a whole day. */
const changes: readonly [zone: string, around: string][] = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['America/New_York', '2027-03-14T07:00Z'],
  ['America/New_York', '2027-11-07T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['America/Havana', '2026-03-08T05:00Z'],
  ['America/Santiago', '2026-04-05T03:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00Z'],
  ['UTC', '2028-02-29T00:00Z'],
];

const field = (from: number, to: number) => {
  const value = fc.integer({ min: from, max: to });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: value.map(String) },
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: to }).map((step) => `*/${step}`),
    fc.tuple(value, fc.integer({ min: 1, max: to })).map(([a, step]) => `${a}/${step}`),
    fc.array(value, { minLength: 2, maxLength: 3 }).map((values) => values.join(',')),
  );
};
const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7))
  .map((parts) => parts.join(' '));

describe('the times of a cron expression', () => {
  test('match the wall clock, minute by minute, also when clocks change', () => {
    fc.assert(
      fc.property(
        expression,
        fc.constantFrom(...changes),
        fc.integer({ min: -1_440, max: 1_440 }),
        (text, [zone, around], shift) => {
          const from = at(around) + (shift - 720) * MINUTE;
          const to = from + 1_440 * MINUTE;
          expect({ text, zone, times: iso(list(text, zone, from, to)) }).toEqual({
            text,
            zone,
            times: iso(walk(text, zone, from, to)),
          });
        },
      ),
      { numRuns: samples(120) },
    );
  }, 120_000);

  test.each(changes)('every quarter of an hour in %s around %s', (zone, around) => {
    const [from, to] = [at(around) - 300 * MINUTE, at(around) + 300 * MINUTE];
    expect(iso(list('*/15 * * * *', zone, from, to))).toEqual(iso(walk('*/15 * * * *', zone, from, to)));
  });

  test('when skipped, are due once at the change of clocks', () => {
    const times = list('30 2 * * *', 'Europe/Berlin', at('2026-03-28T00:00Z'), at('2026-03-31T00:00Z'));
    expect(iso(times)).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(list('0-59 2 * * *', 'Europe/Berlin', at('2026-03-28T12:00Z'), at('2026-03-29T12:00Z'))).toHaveLength(1);
  });

  test('when repeated, are due the first time', () => {
    const times = list('30 2 * * *', 'Europe/Berlin', at('2026-10-24T12:00Z'), at('2026-10-26T12:00Z'));
    expect(iso(times)).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
  });

  test('may be years away, or never come', () => {
    const next = cronTimes(parseCron('0 0 29 2 *'), wallClock('UTC'));
    expect(iso([next(at('2026-01-01T00:00Z')) ?? 0, next(at('2096-03-01T00:00Z')) ?? 0])).toEqual([
      '2028-02-29T00:00:00.000Z',
      '2104-02-29T00:00:00.000Z',
    ]);
  });

  test('need a valid time zone', () => {
    expect(() => wallClock('Europe/Nowhere')).toThrow(RangeError);
  });
});

describe('a fixed interval', () => {
  test('is counted from 1970, whenever it begins', () => {
    const next = everyTimes(15 * MINUTE);
    expect(iso([next(at('2026-01-01T10:07Z')) ?? 0, next(at('2026-01-01T10:15Z')) ?? 0])).toEqual([
      '2026-01-01T10:15:00.000Z',
      '2026-01-01T10:30:00.000Z',
    ]);
  });
});

describe('the newest time', () => {
  test('in a span is the last one, or none', () => {
    const daily = cronTimes(parseCron('0 9 * * *'), wallClock('UTC'));
    const newest = (after: string, until: string) => newestTime(daily, at(after), at(until));
    expect(newest('2026-01-01T00:00Z', '2026-06-30T08:59Z')).toBe(at('2026-06-29T09:00Z'));
    expect(newest('2026-01-01T00:00Z', '2026-06-30T09:00Z')).toBe(at('2026-06-30T09:00Z'));
    expect(newest('2026-06-29T09:00Z', '2026-06-30T08:59Z')).toBeUndefined();
    expect(newest('2026-06-29T08:59Z', '2026-06-30T08:59Z')).toBe(at('2026-06-29T09:00Z'));
  });

  test('equals the result of a search from the beginning', () => {
    fc.assert(
      fc.property(expression, fc.integer({ min: 1, max: 60 * 24 * 40 }), (text, minutes) => {
        const next = cronTimes(parseCron(text), wallClock('Europe/Berlin'));
        const until = at('2026-11-05T12:34Z');
        const after = until - minutes * MINUTE;
        let last: number | undefined;
        for (let due = next(after); due !== undefined && due <= until; due = next(due)) last = due;
        expect(newestTime(next, after, until)).toBe(last);
      }),
      { numRuns: samples(30) },
    );
  }, 60_000);
});
