import { expect, test } from 'bun:test';
import { formatCallers } from './format-callers.ts';

test('a key from outside is quoted and cut', () => {
  const chain = formatCallers([
    { agentName: 'a', instanceKey: 'x\ny' },
    { agentName: 'b', instanceKey: 'k'.repeat(100) },
  ]);
  expect(chain).toBe(`a "x\\ny" → b "${'k'.repeat(64)}…"`);
});

test('an empty list is an empty text', () => {
  expect(formatCallers([])).toBe('');
});
