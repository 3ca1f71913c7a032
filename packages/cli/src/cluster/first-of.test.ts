import { expect, test } from 'bun:test';
import { manualClock } from '../../../runtime/src/testing/manual-clock.ts';
import { firstOf } from './first-of.ts';

async function settle(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await Promise.resolve();
}

test('tries one after the other, at once after a failure', async () => {
  const tried: number[] = [];
  const attempts = [1, 2, 3].map((number) => async () => {
    tried.push(number);
    if (number === 1) throw new Error('no');
    return number;
  });
  expect(await firstOf(attempts, manualClock())).toBe(2);
  expect(tried).toEqual([1, 2]);
});

test('does not wait for one that does not answer', async () => {
  const clock = manualClock();
  const found = firstOf([() => new Promise<number>(() => undefined), async () => 2], clock);
  await settle();
  await clock.advance(500);
  expect(await found).toBe(2);
});

test('fails with the first error when all have failed', async () => {
  const attempts = ['one', 'two'].map((text) => () => Promise.reject(new Error(text)));
  expect(String(await firstOf(attempts).catch((error: unknown) => error))).toBe('Error: one');
  expect(await firstOf([]).catch((error: unknown) => error)).toMatchObject({ code: 'E_CONTROL_CLOSED' });
});
