import { expect, test } from 'bun:test';
import { describeLeftWork } from './left-work.ts';

test('the key of a conversation cannot add a line to the list of left work', () => {
  const left = [{ agent: 'host', instanceKey: 'a\n  b (default)', inputs: 1, deadLetters: 2 }];
  expect(describeLeftWork(left, { suggest: String })).toBe(
    '  host (a\u240a  b (default)): 1 input waits for the next start, 2 dead letters\n',
  );
});

test('a conversation whose turn waits for a person is listed with the number of its questions', () => {
  const left = [{ agent: 'host', instanceKey: 'k', inputs: 1, deadLetters: 0, questions: 2 }];
  const suggest = (text: string) => text.replace(/`$/, ' --bundle b`');
  expect(describeLeftWork(left, { suggest })).toBe(
    '  host (k): 1 input waits for the next start, waiting for a person (2, see `gdn approve --bundle b`)\n',
  );
});

test('a long list of left work is cut, and says how to see all', () => {
  const left = Array.from({ length: 22 }, (_, index) => ({
    agent: 'host',
    instanceKey: `k${index}`,
    inputs: 1,
    deadLetters: 0,
  }));
  const lines = describeLeftWork(left, { suggest: String }).split('\n');
  expect(lines.length).toBe(22);
  expect(lines.slice(-3)).toEqual([
    '  host (k19): 1 input waits for the next start',
    '  and 2 more: `gdn instance list`',
    '',
  ]);
});

test('an instance that cannot be read is listed with its problem', () => {
  const problem = 'E_STORE_CORRUPT: metadata.json is\ndamaged';
  const unreadable = { agent: 'host', instanceKey: 'k', inputs: 0, deadLetters: 0, problem };
  expect(describeLeftWork([unreadable], { suggest: String })).toBe(
    '  host (k): does not start, E_STORE_CORRUPT: metadata.json is damaged\n',
  );
});
