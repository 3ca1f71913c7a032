// Tests the line of instances that wait for a process, with fake agents instead of processes.
import { afterEach, expect, test } from 'bun:test';
import { fakeEvent, openFakeSwarm, removeFakeSwarm } from '../../testing/fake-swarm.ts';
import { until } from '../../testing/serve-fake-swarm.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

test('instances that need a process at the same time get their processes one in each tick', async () => {
  const opened = await openFakeSwarm(async () => 'hello');
  cleanups.push(() => removeFakeSwarm(opened));
  cleanups.push(() => opened.close());
  const { agents, swarm } = opened;
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const agentName of names) {
    const at = { agentName, instanceKey: 'default' };
    swarm.instances.post(at, { type: 'work', seq: 1, event: fakeEvent('one') });
  }
  const counts: number[] = [];
  while (counts.length < names.length) {
    counts.push(agents.children.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(counts).toEqual([1, 2, 3, 4, 5]);
  await until(() => [...swarm.instances.all()].every(({ status }) => status === 'idle'));
});
