import { expect, test } from 'bun:test';
import { manualClock } from '../testing/manual-clock.ts';
import { waitAtMost } from './clock.ts';

const never = new Promise<never>(() => undefined);

test('a wait ends with its work, or when time is up, and leaves no timer behind', async () => {
  const clock = manualClock();
  await waitAtMost(clock, 1_000, Promise.resolve());
  expect(clock.pending).toBe(0);
  let isOver = false;
  const waiting = waitAtMost(clock, 1_000, never).then(() => (isOver = true));
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(await waiting).toBe(true);
});

test('a wait for failing work fails with it, and leaves no timer behind', async () => {
  const clock = manualClock();
  expect(await waitAtMost(clock, 1_000, Promise.reject(new Error('no'))).catch(String)).toBe('Error: no');
  expect(clock.pending).toBe(0);
});
