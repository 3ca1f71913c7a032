import { expect, test } from 'bun:test';
import { tapeColumns } from './tape-columns.ts';

test('a column for each event while there is room', () => {
  expect(tapeColumns('imte', 100).join('')).toBe('imte');
  expect(tapeColumns('', 100)).toEqual([]);
  expect(tapeColumns('im', 0)).toEqual([]);
});

test('past that every event is in exactly one column, and what a person said is not hidden', () => {
  const authors = `${'mt'.repeat(5000)}i${'mt'.repeat(5000)}`;
  const columns = tapeColumns(authors, 300);
  expect(columns).toHaveLength(300);
  expect(columns.filter((author) => author === 'i')).toHaveLength(1);
});
