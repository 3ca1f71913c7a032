import { expect, test } from 'bun:test';
import { drain, leaveUnhurried } from './drain-process.ts';
import { type InstanceState, newInstance } from './instance-state.ts';
import { defaultSupervisionPolicy } from './supervision-policy.ts';

const moment = { now: 0, policy: defaultSupervisionPolicy };
const busy: InstanceState = { ...newInstance, spawned: 1, phase: { name: 'busy', readySince: 0 } };

test('N-04 a process that only makes room for others may wait for people, and one that is stopped may not', () => {
  const { state, actions } = leaveUnhurried(busy, moment);
  expect(actions).toContainEqual({
    ...{ type: 'process.drain', process: 1, graceMs: expect.any(Number) },
    isUnhurried: true,
  });
  const stop = { type: 'drain', graceMs: 30_000, afterwards: 'stop' } as const;
  for (const before of [busy, state]) {
    const hurried = { type: 'process.drain', process: 1, graceMs: 30_000 } as const;
    expect(drain(before, stop, moment).actions).toContainEqual(hurried);
  }
});
