import { expect, test } from 'bun:test';
import { turnAt } from './turn-at.ts';

test('the turn of every event', () => {
  const turns = [
    [3, 5],
    [6, 6],
    [7, 20],
  ].map(([from = 0, to = 0], index) => ({ turnId: `t${index}`, from, to, committedAt: '', result: 'completed' }));
  const found = [2, 3, 5, 6, 7, 20, 21].map((seq) => turnAt({ turns }, seq)?.turnId);
  expect(found).toEqual([undefined, 't0', 't0', 't1', 't2', 't2', undefined]);
});
