import { expect, test } from 'bun:test';
import { markdownTable } from './markdown-table.ts';

test('columns are as wide as their widest cell, and a bar in a cell is not a border', () => {
  expect(
    markdownTable(
      ['a', 'means'],
      [
        ['`x|y`', 'one'],
        ['한국', ''],
      ],
    ),
  ).toBe('| a      | means |\n| ------ | ----- |\n| `x\\|y` | one   |\n| 한국   |       |\n');
});

test('without rows there is no table', () => {
  expect(markdownTable(['a'], [])).toBe('');
});
