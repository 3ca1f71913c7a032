import { expect, test } from 'bun:test';
import { formatDuration, formatElapsed } from './format-duration.ts';

test.each([
  [0.4, '0 ms', '0 s'],
  [999, '999 ms', '0 s'],
  [1_000, '1.0 s', '1 s'],
  [59_999, '59.9 s', '59 s'],
  [125_000, '2 min 5 s', '2 min 5 s'],
])('%d ms is %s, and %s while it runs', (ms, duration, elapsed) => {
  expect(formatDuration(ms)).toBe(duration);
  expect(formatElapsed(ms)).toBe(elapsed);
});
