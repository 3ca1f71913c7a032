import { expect, test } from 'bun:test';
import { showClock, showTime } from './show-time.ts';

const local = new Date(2026, 0, 2, 3, 4, 5, 67);
const utc = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 67));
const [terminal, pipe] = [{ isWatched: true }, { isWatched: false }];

test('times are local at a terminal, and UTC in a pipe', () => {
  expect(showTime(local, terminal)).toBe('2026-01-02 03:04:05');
  expect(showTime(local.toISOString(), terminal, 'milliseconds')).toBe('2026-01-02 03:04:05.067');
  expect(showTime(utc, pipe)).toBe('2026-01-02T03:04:05Z');
  expect(showTime(utc.toISOString(), pipe, 'milliseconds')).toBe('2026-01-02T03:04:05.067Z');
  expect([showClock(local, terminal), showClock(utc, pipe)]).toEqual(['03:04:05', '03:04:05Z']);
});

test('a text that is not a time stays as it is', () => {
  expect(showTime('soon', terminal)).toBe('soon');
  expect(showTime(new Date('soon'), pipe)).toBe('unknown');
});
