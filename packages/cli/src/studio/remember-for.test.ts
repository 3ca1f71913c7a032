import { expect, test } from 'bun:test';
import { systemClock } from '@goondan/runtime/internal';
import { rememberFor } from './remember-for.ts';

test('a value is read once, returned until it is too old, and then replaced in the background', async () => {
  let now = 0;
  let reads = 0;
  const ask = rememberFor(1_000, async () => ++reads, { ...systemClock, elapsed: () => now });
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  now = 999;
  expect(await ask()).toBe(1);
  now = 1_000;
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  expect(await ask()).toBe(2);
  expect(reads).toBe(2);
});

test('a failed read is reported once, and repeated', async () => {
  let reads = 0;
  const ask = rememberFor(
    1_000,
    async () => {
      if (++reads === 1) throw new Error('not now');
      return reads;
    },
    systemClock,
  );
  expect(ask()).rejects.toThrow('not now');
  await Bun.sleep(0);
  expect(await ask()).toBe(2);
});

test('a failed second read keeps the old value', async () => {
  let now = 0;
  let reads = 0;
  const read = async () => {
    if (++reads === 2) throw new Error('not now');
    return reads;
  };
  const ask = rememberFor(10, read, { ...systemClock, elapsed: () => now });
  expect(await ask()).toBe(1);
  now = 20;
  expect(await ask()).toBe(1);
  await Bun.sleep(0);
  expect(await ask()).toBe(1);
  await Bun.sleep(0);
  expect(await ask()).toBe(3);
});
