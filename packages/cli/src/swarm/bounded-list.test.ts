import { expect, test } from 'bun:test';
import { boundedList } from './bounded-list.ts';

const listOf = (length: number) =>
  boundedList(
    Array.from({ length }, (_, index) => index + 1),
    (item) => [`${item}`, `below ${item}`],
    '`gdn ls`',
  );

test.each([0, 1, 20])('a list of %i items is shown whole, with all lines of each item', (length) => {
  const lines = listOf(length);
  expect(lines).toHaveLength(2 * length);
  expect(lines.slice(-2)).toEqual(length === 0 ? [] : [`${length}`, `below ${length}`]);
});

test('of a longer list the first 20 items are shown, and the number of the others', () => {
  const lines = listOf(21);
  expect(lines.slice(0, -1)).toEqual(listOf(20));
  expect(lines.at(-1)).toBe('  and 1 more: `gdn ls`');
});
