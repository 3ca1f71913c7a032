import { expect, test } from 'bun:test';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import type { InstanceInput } from './instance-state.ts';
import type { RunningProcess, Upkeep } from './supervise-process.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { defaultSupervisionPolicy } from './supervision-policy.ts';

/** A process that keeps the messages that it gets. */
class Kept extends SupervisedProcess<Upkeep, never> {
  readonly said: Upkeep[] = [];

  spawn() {
    // Safe: nothing else of the process is used.
    return { say: (message: Upkeep) => void this.said.push(message) } as unknown as RunningProcess<Upkeep>;
  }

  post(input: InstanceInput) {
    this.step(input);
  }

  policy() {
    return defaultSupervisionPolicy;
  }

  stepped() {}
  perform() {}
  heard() {}
  lost() {}
  unsent() {}
  report() {}
}

test('N-04 a process is told whether it may wait for people before it ends', () => {
  const kept = new Kept(manualClock());
  const event = fakeEvent('go');
  kept.step({ type: 'work', seq: 1, event });
  kept.step({ type: 'slot.granted' });
  kept.step({ type: 'ready', process: kept.state.spawned });
  kept.step({ type: 'leave' });
  kept.step({ type: 'drain', graceMs: 30_000, afterwards: 'stop' });
  expect(kept.said.filter(({ type }) => type === 'drain')).toEqual([
    { type: 'drain', graceMs: expect.any(Number), isUnhurried: true },
    { type: 'drain', graceMs: 30_000 },
  ]);
});
