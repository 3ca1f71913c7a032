import { expect, test } from 'bun:test';
import { describeLeftWork } from './left-work.ts';

test('the key of a conversation cannot add a line to the list of left work', () => {
  const left = [{ agent: 'host', instanceKey: 'a\n  b (default)', inputs: 1, deadLetters: 2 }];
  expect(describeLeftWork(left)).toBe(
    '  host (a\u240a  b (default)): 1 input waits for the next start, 2 dead letters\n',
  );
});
