import { expect, test } from 'bun:test';
import { describeAge, describeDuration, describeMoment, describeSeconds } from './describe-time.ts';

test.each([
  [0, '0.00 ms'],
  [0.274, '0.27 ms'],
  [3.16, '3.2 ms'],
  [321.4, '321 ms'],
  [2449, '2.4 s'],
  [999.7, '1.0 s'],
  [59_960, '1 min 0 s'],
  [61_000, '1 min 1 s'],
  [119_700, '2 min 0 s'],
])('%p milliseconds are %p', (milliseconds, text) => {
  expect(describeDuration(milliseconds)).toBe(text);
});

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [127_000, '2 min 7 s'],
  [3_600_000, '1 h 0 min'],
  [93_900_000, '26 h 5 min'],
])('%p milliseconds that go on are %p', (milliseconds, text) => {
  expect(describeSeconds(milliseconds)).toBe(text);
});

test('the age', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const ages = [0, 44, 60, 3599, 7200, 72_000, 172_800].map((seconds) =>
    describeAge(new Date(now - seconds * 1000).toISOString(), now),
  );
  expect(ages).toEqual(['just now', 'just now', '1 min ago', '60 min ago', '2 h ago', '20 h ago', '2 d ago']);
});

test('a moment of another day includes the day', () => {
  const now = new Date(2026, 0, 2, 12);
  const today = describeMoment(new Date(2026, 0, 2, 9, 5, 7).toISOString(), now);
  const yesterday = describeMoment(new Date(2026, 0, 1, 9, 5, 7).toISOString(), now);
  expect(yesterday).toEndWith(today);
  expect(yesterday.length).toBeGreaterThan(today.length);
});

test('the hours of a moment are 00 to 23', () => {
  const now = new Date(2026, 0, 2, 12);
  const times = [0, 9, 12, 21].map((hour) => describeMoment(new Date(2026, 0, 2, hour, 5, 7).toISOString(), now));
  expect(times.map((time) => time.slice(0, 2))).toEqual(['00', '09', '12', '21']);
});

test('a moment that is not a time is shown as it is', () => {
  expect(describeMoment('yesterday')).toBe('yesterday');
});
