import { expect, test } from 'bun:test';
import type { SwarmStatus } from '@goondan/runtime';
import { addUnreadable, describeDeadLetters, describeLeftWork } from './left-work.ts';

test('the key of a conversation cannot add a line to the list of left work', () => {
  const left = [{ agent: 'host', instanceKey: 'a\n  b (default)', inputs: 1, deadLetters: 2 }];
  expect(describeLeftWork(left, { suggest: String })).toBe(
    '  host (a\u240a  b (default)): 1 input waits for the next start, 2 dead letters\n',
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

test('an instance that cannot be read is listed with its problem, also for a running swarm that has not tried to start it', () => {
  const problem = 'E_STORE_CORRUPT: metadata.json is\ndamaged';
  const unreadable = { agent: 'host', instanceKey: 'k', inputs: 0, deadLetters: 0, problem };
  expect(describeLeftWork([unreadable], { suggest: String })).toBe(
    '  host (k): does not start, E_STORE_CORRUPT: metadata.json is\u240adamaged\n',
  );
  const idle = { agent: 'host', instanceKey: 'open', status: 'idle', queued: 0, crashes: 0 };
  // The cast is safe: the other fields of a status are not read.
  const status = { swarm: 'shop', instances: [idle] } as unknown as SwarmStatus;
  expect(addUnreadable(status, [unreadable, { ...unreadable, instanceKey: 'open' }]).instances).toEqual([
    ...status.instances,
    { agent: 'host', instanceKey: 'k', status: 'does not start', queued: 0, crashes: 0, problem },
  ]);
});

test('the dead letters of a running swarm are counted in one line', () => {
  const suggest = (text: string) => text.replace('list', 'list --bundle shop');
  expect(describeDeadLetters(2, { suggest })).toBe('  2 dead letters: `gdn deadletter list --bundle shop`\n');
  expect(describeDeadLetters(0, { suggest })).toBe('');
});
