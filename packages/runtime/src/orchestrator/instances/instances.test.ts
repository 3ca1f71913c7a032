// Tests the line of instances that wait for a process, with fake agents instead of processes.
import { expect, test } from 'bun:test';
import { bareInstances, ticks } from '../../testing/bare-instances.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { until } from '../../../../../test/until.ts';

const { openSwarm } = closeAfterEach();
const models = { 'Model/m': { provider: 'scripted', model: 'none' } };

test('instances that need a process at the same time get their processes one in each tick', async () => {
  const opened = await openSwarm(async () => 'hello');
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

test('while an instance waits, the processes are looked at twice for all events of a tick', async () => {
  const names = Array.from({ length: 11 }, (_, index) => `agent${index}`);
  let looks = 0;
  const isWaiting = () => {
    looks += 1;
    return false;
  };
  const { instances, listeners } = bareInstances(
    { agents: names.map((agentName) => ({ agentName, models })), policy: { maxProcesses: 10 } },
    { calls: { isAwaited: () => false, isWaiting } },
  );
  const at = (agentName: string) => ({ agentName, instanceKey: 'default' });
  const work = (agentName: string, id: string) =>
    instances.post(at(agentName), { type: 'work', seq: 1, event: fakeEvent(id, { id }) });
  for (const name of names) work(name, 'first');
  await until(() => listeners.length === 10);
  for (const listener of listeners) listener.message({ type: 'ready', ...noParts });
  await ticks();
  expect(instances.waiting).toBe(1);
  looks = 0;
  for (let round = 0; round < 20; round++) {
    for (const name of names.slice(0, 10)) work(name, `next-${round}`);
  }
  await ticks();
  expect(looks).toBe(2 * 10);
});

test('a free process goes to the agent with the fewest processes, not to the first in line', async () => {
  const agents = ['busy', 'other', 'rare'].map((agentName) => ({ agentName, models }));
  const { instances, listeners } = bareInstances({ agents, policy: { maxProcesses: 2 } });
  const work = (agentName: string, instanceKey = 'default') =>
    instances.post({ agentName, instanceKey }, { type: 'work', seq: 1, event: fakeEvent('go') });
  work('busy');
  work('other');
  await until(() => listeners.length === 2);
  work('busy', 'second');
  work('rare');
  listeners[1]?.exited({ code: 1, signal: null, leftBehind: 0 });
  await until(() => listeners.length === 3);
  expect(instances.find({ agentName: 'rare', instanceKey: 'default' })?.hasProcess).toBe(true);
});
