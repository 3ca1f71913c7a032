import { describe, expect, test } from 'bun:test';
import { readSince, readSinceDay } from './read-since.ts';

const now = new Date(2026, 0, 31, 12, 0, 0);

describe('logs --since', () => {
  test.each([
    ['30s', new Date(2026, 0, 31, 11, 59, 30)],
    ['10m', new Date(2026, 0, 31, 11, 50)],
    ['2h', new Date(2026, 0, 31, 10)],
    ['1d', new Date(now.getTime() - 86_400_000)],
    ['09:30', new Date(2026, 0, 31, 9, 30)],
    ['09:30:15', new Date(2026, 0, 31, 9, 30, 15)],
    ['2026-01-02', new Date(2026, 0, 2)],
    ['2026-01-02 03:04', new Date(2026, 0, 2, 3, 4)],
    ['2026-01-02T03:04:05.678Z', new Date('2026-01-02T03:04:05.678Z')],
    ['2026-01-02T03:04+09:00', new Date('2026-01-01T18:04:00.000Z')],
  ])('%s is a duration, or a local time unless it names a zone', (text, since) => {
    expect(readSince(text, now)).toEqual(since);
  });

  test.each(['yesterday', '10', '10 m', '25:00', '2026-13-01', '2026-02-31', '2026-01-02T', '-1h'])(
    '%s is refused',
    (text) => {
      const forms =
        'Write how long ago (30s, 10m, 2h, 7d), a time of today (09:30), or a date (2026-01-31, 2026-01-31T09:30Z), for example: --since 7d';
      expect(() => readSince(text, now)).toThrow(forms);
      expect(() => readSinceDay(text, now)).toThrow(forms);
    },
  );

  test.each(['12:01', '2026-02-01', '2027-01-01T00:00Z'])('%s is in the future, and refused', (text) => {
    expect(() => readSince(text, now)).toThrow('It is in the future. Write how long ago');
  });
});

describe('usage --since', () => {
  const noon = new Date('2026-01-31T12:00:00Z');

  test.each([
    ['7d', '2026-01-24'],
    ['2026-01-02', '2026-01-02'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-02T03:04+09:00', '2026-01-01'],
  ])('Y-03 %s is a day in UTC', (text, day) => {
    expect(readSinceDay(text, noon)).toBe(day);
  });

  test('Y-03 a day that has not begun is refused', () => {
    expect(() => readSinceDay('2026-02-01', noon)).toThrow('It is in the future: in UTC, today is 2026-01-31. Write');
  });
});
