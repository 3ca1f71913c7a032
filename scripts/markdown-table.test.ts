import { expect, test } from 'bun:test';
import { markdownTable } from './markdown-table.ts';

test('columns are as wide as their widest cell, and a bar in a cell is no border', () => {
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

test('no rows, no table', () => {
  expect(markdownTable(['a'], [])).toBe('');
});
