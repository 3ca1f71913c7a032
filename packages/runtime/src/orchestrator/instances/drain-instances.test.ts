// Tests the end of many instances, with listeners instead of processes.
import { expect, spyOn, test } from 'bun:test';
import { bareInstances } from '../../testing/bare-instances.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { drainInstances } from './drain-instances.ts';
import { until } from '../../../../../test/until.ts';

const PROCESSES = 10;

/** Posts work to this many instances. The first of them get processes that are ready, and the others wait. */
async function startInstances(count: number) {
  const clock = manualClock();
  const models = { 'Model/m': { provider: 'scripted', model: 'none' } };
  const plan = { agents: [{ agentName: 'clerk', models }], policy: { maxProcesses: PROCESSES } };
  const { instances, listeners } = bareInstances(plan, { clock });
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
