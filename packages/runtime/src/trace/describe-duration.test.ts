import { expect, test } from 'bun:test';
import { describeDuration } from './describe-duration.ts';

test.each([
  [0, '0.00 ms'],
  [0.274, '0.27 ms'],
  [9.994, '9.99 ms'],
  [9.996, '10 ms'],
  [320.4, '320 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [16_028, '16.0 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 0 s'],
  [125_000, '2 min 5 s'],
])('%p ms is %p', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});
