import { expect, test } from 'bun:test';
import { placeAgents } from './place-agents.ts';

test('a called agent is right of its caller, in a circle too, and no two overlap', () => {
  const placed = placeAgents(
    [
      { name: 'writer', mayAsk: ['critic'] },
      { name: 'critic', mayAsk: ['writer', 'gone'] },
      { name: 'lead', mayAsk: ['writer', 'searcher'] },
      { name: 'searcher' },
      { name: 'alone' },
    ],
    'lead',
  );
  expect(Object.fromEntries(placed.map(({ name, column, row }) => [name, [column, row]]))).toEqual({
    lead: [0, 0],
    alone: [0, 1],
    writer: [1, 0],
    searcher: [1, 1],
    critic: [2, 0],
  });
});

test('a circle without an entry is drawn, too', () => {
  const placed = placeAgents([
    { name: 'a', mayAsk: ['b'] },
    { name: 'b', mayAsk: ['a'] },
  ]);
  expect(new Set(placed.map(({ column, row }) => `${column} ${row}`)).size).toBe(2);
});

test('many paths to the same agents are followed once', () => {
  const levels = Array.from({ length: 40 }, (_, level) =>
    ['a', 'b'].map((side) => ({ name: `${side}${level}`, mayAsk: [`a${level + 1}`, `b${level + 1}`] })),
  ).flat();
  expect(placeAgents(levels, 'a0').at(-1)).toEqual({ name: 'b39', column: 39, row: 1 });
});
