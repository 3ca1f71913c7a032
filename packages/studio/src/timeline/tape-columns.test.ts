import { expect, test } from 'bun:test';
import { tapeColumns } from './tape-columns.ts';

const authorsIn = (columns: ReturnType<typeof tapeColumns>) =>
  columns.map((column) => column.map(({ author }) => author).join(''));

test('there is a column for each event while there is room', () => {
  expect(authorsIn(tapeColumns('imte', 100))).toEqual(['i', 'm', 't', 'e']);
  expect(tapeColumns('im', 100)).toEqual([[{ author: 'i', share: 1 }], [{ author: 'm', share: 1 }]]);
  expect(tapeColumns('', 100)).toEqual([]);
  expect(tapeColumns('im', 0)).toEqual([]);
});

test('otherwise a column shows its authors by their share of events', () => {
  const [column = []] = tapeColumns('imimmmtm', 1);
  expect(column.map(({ author, share }) => [author, Math.round(share * 100)])).toEqual([
    ['i', 24],
    ['t', 15],
    ['m', 61],
  ]);
});

test('and a message of a person is never hidden', () => {
  const authors = `${'mt'.repeat(5000)}i${'mt'.repeat(5000)}`;
  const columns = tapeColumns(authors, 300);
  expect(columns).toHaveLength(300);
  const [spoken = [], ...more] = columns.filter((column) => column.some(({ author }) => author === 'i'));
  expect(more).toEqual([]);
  expect(spoken.find(({ author }) => author === 'i')?.share).toBeGreaterThan(0.1);
  for (const column of columns) expect(column.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});
