import { expect, test } from 'bun:test';
import { mapAtMost } from './map-at-most.ts';

test('maps all items in order, at most so many at a time', async () => {
  let [running, most] = [0, 0];
  const items = Array.from({ length: 20 }, (_, index) => index);
  const doubled = await mapAtMost(3, items, async (item) => {
    most = Math.max(most, ++running);
    // Later items finish first.
    await Bun.sleep(item % 3 === 0 ? 4 : 1);
    running -= 1;
    return item * 2;
  });
  expect(doubled).toEqual(items.map((item) => item * 2));
  expect(most).toBe(3);
});

test('an error of one item is the error of all', async () => {
  const failing = mapAtMost(2, [1, 2, 3], (item) =>
    item === 2 ? Promise.reject(new Error('two')) : Promise.resolve(),
  );
  expect(await failing.catch((error: unknown) => error)).toEqual(new Error('two'));
});
