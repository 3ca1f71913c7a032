import { expect, test } from 'bun:test';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { forEachAtMost } from './for-each-at-most.ts';

test('works on all items, never on more than the given number', async () => {
  const done: number[] = [];
  let busy = 0;
  let most = 0;
  await forEachAtMost(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    busy += 1;
    most = Math.max(most, busy);
    await Bun.sleep(1);
    busy -= 1;
    done.push(item);
  });
  expect({ done: done.toSorted((one, other) => one - other), most }).toEqual({ done: [1, 2, 3, 4, 5, 6, 7], most: 3 });
});

test('an error starts nothing more, and is thrown when nothing is under way', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    if (item === 1) throw new Error('one');
    await Bun.sleep(5);
    ended.push(item);
  };
  expect(await rejectionOf(forEachAtMost(2, [1, 2, 3, 4], work))).toMatchObject({ message: 'one' });
  expect(ended).toEqual([2]);
});
