// Tests the line of instances that wait for a process, with fake agents instead of processes.
import { expect, test } from 'bun:test';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import type { ProcessListener } from '../supervision/supervise-process.ts';
import { Instances } from './instances.ts';
import { tellListeners } from './swarm-listener.ts';
import { until } from '../../../../../test/until.ts';

const { openSwarm } = closeAfterEach();

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
  const models = { 'Model/m': { provider: 'scripted', model: 'none' } };
  const currentPlan = new CurrentPlan({
    name: 'test',
    agents: names.map((agentName) => ({ agentName, models })),
    policy: { maxProcesses: 10 },
  });
  let looks = 0;
  const listeners: ProcessListener<FromAgent>[] = [];
  const instances = new Instances({
    clock: manualClock(),
    currentPlan,
    events: tellListeners(() => []),
    report: () => undefined,
    watchedKinds: () => [],
    calls: {
      isAwaited: () => false,
      isWaiting: () => {
        looks += 1;
        return false;
      },
    },
    held: { has: () => false, size: 0 },
    processes: {
      isShared: () => false,
      roomFor: () => 0,
      spawn(_at, _process, _options, listener) {
        listeners.push(listener);
        return { pid: listeners.length, say: () => undefined, kill: () => undefined };
      },
    },
  });
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

/** Lets some ticks pass. */
async function ticks(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve));
}
