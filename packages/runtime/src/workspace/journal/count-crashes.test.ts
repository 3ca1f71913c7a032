import { expect, test } from 'bun:test';
import { countCrashes } from '../records/dead-letter.ts';

test('a turn that the store interrupted is not counted as a crash', () => {
  expect(countCrashes([{ type: 'resumed' }, { type: 'resumed', isExcused: true }, { type: 'resumed' }])).toBe(2);
});
