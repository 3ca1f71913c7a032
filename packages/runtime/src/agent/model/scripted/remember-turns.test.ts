import { expect, test } from 'bun:test';
import { rememberTurns } from './remember-turns.ts';

test('a turn is remembered until `limit` newer ones were used', () => {
  const recall = rememberTurns(2);
  const first = recall('first');
  recall('second');
  expect(recall('first')).toBe(first);
  recall('third');
  expect(recall('first')).toBe(first);
  recall('third');
  recall('fourth');
  expect(recall('first')).not.toBe(first);
});
