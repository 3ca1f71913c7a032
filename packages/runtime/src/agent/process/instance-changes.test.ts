import { expect, test } from 'bun:test';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { PreparedChange } from '../change/agent-changes.ts';
import { InstanceChanges, type InstanceChangesDeps } from './instance-changes.ts';

const idle = () => new Promise((resolve) => setImmediate(resolve));

test('a change that was dropped while it was prepared is dropped when it is ready, and not reported', async () => {
  const prepared = Promise.withResolvers<PreparedChange>();
  const said: FromAgent[] = [];
  let drops = 0;
  const changes = new InstanceChanges({
    // This fakes only what is used here: an agent that cannot give up what it prepares.
    agent: { prepare: () => prepared.promise, parts: { address: {} } } as unknown as InstanceChangesDeps['agent'],
    log: { write: () => undefined } as unknown as InstanceChangesDeps['log'],
    send: (message) => void said.push(message),
    onWanted: () => undefined,
    onReady: () => expect.unreachable(),
    onSwapped: () => expect.unreachable(),
  });
  changes.hear({ type: 'change.prepare', change: 1, plan: {} });
  await idle();
  changes.hear({ type: 'change.drop', change: 1 });
  prepared.resolve({
    plan: {} as PreparedChange['plan'],
    swap: () => expect.unreachable(),
    drop: async () => void (drops += 1),
  });
  await idle();
  expect([drops, said]).toEqual([1, []]);
});

test('a change is reported as swapped when it is in place, not before', async () => {
  const placed = Promise.withResolvers<void>();
  const said: string[] = [];
  const prepared = { plan: {}, swap: () => placed.promise };
  const changes = new InstanceChanges({
    agent: { prepare: async () => prepared, parts: { address: {} } } as unknown as InstanceChangesDeps['agent'],
    log: {} as InstanceChangesDeps['log'],
    send: ({ type }) => void said.push(type),
    onWanted: () => undefined,
    onReady: () => undefined,
    onSwapped: () => void said.push('onSwapped'),
  });
  changes.hear({ type: 'change.prepare', change: 1, plan: {} });
  await idle();
  changes.hear({ type: 'change.swap', change: 1 });
  await idle();
  expect(said).toEqual(['change.ready']);
  placed.resolve();
  await idle();
  expect(said).toEqual(['change.ready', 'change.swapped', 'onSwapped']);
});
