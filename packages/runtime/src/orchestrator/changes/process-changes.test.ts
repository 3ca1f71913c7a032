// The messages of changes to processes, with instances that only note what they are told.
import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { addressKey } from '../address/address-key.ts';
import type { Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import type { Phase } from '../supervision/instance-state.ts';
import { ProcessChanges } from './process-changes.ts';

const TIMEOUT_MS = 100;

/** Opens the changes of processes of the agent `a`, one for each key. */
function open(...keys: string[]) {
  const clock = manualClock();
  const told: string[] = [];
  const settled: string[] = [];
  const idlePhase: Phase = { name: 'ready', readySince: 0, idleSince: 0 };
  const members = keys.map((instanceKey) => {
    const address = { agentName: 'a', instanceKey };
    const state: { spawned: number; phase: Phase } = { spawned: 1, phase: idlePhase };
    return {
      address,
      key: addressKey(address),
      hasProcess: true,
      state,
      prepareChange: (change: number) => void told.push(`${instanceKey} prepare ${change}`),
      say: ({ type, change }: { type: string; change: number }) => void told.push(`${instanceKey} ${type} ${change}`),
    };
  });
  let look = () => undefined as void;
  // These fake only the members that are used here.
  const instances = {
    find: ({ instanceKey }: { instanceKey: string }) =>
      members.find((each) => each.address.instanceKey === instanceKey),
    pause: () => () => undefined,
    waitsChanged: () => look(),
    until: (isTrue: () => boolean) =>
      new Promise<void>((resolve) => {
        look = () => (isTrue() ? resolve() : undefined);
        look();
      }),
  } as unknown as Instances;
  const changes = new ProcessChanges({
    clock,
    instances,
    asRun: (_, agent) => agent,
    settled: ({ instanceKey }) => void settled.push(instanceKey),
  });
  const agent = { agentName: 'a', models: {} };
  const at = (instanceKey: string) => ({ agentName: 'a', instanceKey });
  return {
    clock,
    told,
    settled,
    members,
    changes,
    prepare: () =>
      changes.prepare(
        members.map((instance) => ({ instance: instance as unknown as Instance, agent })),
        { agents: new Set(['a']), timeoutMs: TIMEOUT_MS, signal: new AbortController().signal },
      ),
    ready: (key: string, change: number) => changes.heard(at(key), { type: 'change.ready', change }),
    swapped: (key: string, change: number) => changes.heard(at(key), { type: 'change.swapped', change }),
    gone: (key: string) => changes.processGone(at(key)),
  };
}

describe('the changes of processes', () => {
  test('the time limit of one change does not end the next one', async () => {
    const { prepare, ready, clock } = open('one');
    const first = prepare();
    ready('one', 1);
    (await first).swap();
    await clock.advance(TIMEOUT_MS - 1);
    const second = prepare();
    await clock.advance(1);
    ready('one', 2);
    (await second).swap();
  });

  test('a process that was asked to end meanwhile drops the change that the others swap', async () => {
    const { prepare, ready, told, members } = open('one', 'two');
    const change = prepare();
    const [one] = members;
    const phase: Phase = { name: 'draining', deadline: 1, hasTurn: true, afterwards: 'serve', readySince: 0 };
    if (one !== undefined) one.state.phase = phase;
    ready('two', 1);
    (await change).swap();
    expect(told.slice(2)).toEqual(['one change.drop 1', 'two change.swap 1']);
  });

  test('L-02 a process settles when it has swapped to the newest change, not to the one before', async () => {
    const { prepare, ready, swapped, settled } = open('one');
    for (const number of [1, 2]) {
      const change = prepare();
      ready('one', number);
      (await change).swap();
    }
    swapped('one', 1);
    expect(settled).toEqual([]);
    swapped('one', 2);
    expect(settled).toEqual(['one']);
  });

  test('L-02 a process that swaps while it prepares the next change settles after the swap of that change', async () => {
    const { prepare, ready, swapped, settled } = open('one');
    const first = prepare();
    ready('one', 1);
    (await first).swap();
    const second = prepare();
    swapped('one', 1);
    ready('one', 2);
    (await second).swap();
    expect(settled).toEqual([]);
    swapped('one', 2);
    expect(settled).toEqual(['one']);
  });

  test('L-02 a process that takes the place of one that had still to swap settles when it drops a change', async () => {
    const { prepare, ready, gone, settled, members } = open('one');
    const first = prepare();
    ready('one', 1);
    (await first).swap();
    gone('one');
    const [one] = members;
    if (one !== undefined) one.state.spawned = 2;
    const second = prepare();
    ready('one', 2);
    (await second).drop();
    expect(settled).toEqual(['one']);
  });
});
