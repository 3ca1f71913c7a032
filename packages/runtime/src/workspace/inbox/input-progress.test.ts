import { expect, test } from 'bun:test';
import { progressOf } from './input-progress.ts';

test.each([
  ['that is handled', 9, 7, 8, 9],
  ['whose turn is interrupted', 3, 9, 0, 9],
  ['that the interrupted turn has taken', 3, 4, 9, 9],
] as const)('Y-08 the last event that has begun is the one %s', (_, inbox, input, lastTaken, begun) => {
  // Safe: only these fields are read.
  const open = { input, lastTaken } as Parameters<typeof progressOf>[0]['open'];
  expect(progressOf({ inbox, taken: [], open })).toEqual({ handled: inbox, taken: [], begun });
});
