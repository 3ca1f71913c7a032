// Tests the end of many instances, with listeners instead of processes.
import { expect, spyOn, test } from 'bun:test';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import type { ProcessListener } from '../supervision/supervise-process.ts';
import { drainInstances } from './drain-instances.ts';
import { Instances } from './instances.ts';
import { tellListeners } from './swarm-listener.ts';
import { until } from '../../../../../test/until.ts';

const PROCESSES = 10;

/** Posts work to this many instances. The first of them get processes that are ready, and the others wait. */
async function startInstances(count: number) {
  const clock = manualClock();
  const listeners: ProcessListener<FromAgent>[] = [];
  const models = { 'Model/m': { provider: 'scripted', model: 'none' } };
  const instances = new Instances({
    clock,
    currentPlan: new CurrentPlan({
      name: 'test',
      agents: [{ agentName: 'clerk', models }],
      policy: { maxProcesses: PROCESSES },
    }),
    events: tellListeners(() => []),
    report: () => undefined,
    watchedKinds: () => [],
    calls: { isAwaited: () => false, isWaiting: () => false },
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
  for (let number = 0; number < count; number++) {
    const at = { agentName: 'clerk', instanceKey: `key ${number}` };
    instances.post(at, { type: 'work', seq: 1, event: fakeEvent('hello') });
  }
  await until(() => listeners.length === PROCESSES);
  for (const listener of listeners) listener.message({ type: 'ready', ...noParts });
  const drain = () => drainInstances(instances, clock, () => [], 1_000, new AbortController().signal);
  return { instances, listeners, drain };
}

test('processes that end in the same tick are looked at together', async () => {
  const { instances, listeners, drain } = await startInstances(PROCESSES);
  const all = spyOn(instances, 'all');
  const drained = drain();
  for (const listener of listeners) listener.exited({ code: 0, signal: null, leftBehind: 0 });
  await drained;
  // Twice in the tick of the drain, and twice in the next one.
  expect(all.mock.calls.length).toBeLessThanOrEqual(4);
});

test('ten thousand instances without a process end without nested calls', async () => {
  const { instances, listeners, drain } = await startInstances(10_000);
  const drained = drain();
  for (const listener of listeners) listener.exited({ code: 0, signal: null, leftBehind: 0 });
  await drained;
  expect([...instances.all()].every(({ state }) => state.phase.name === 'stopped')).toBe(true);
});
