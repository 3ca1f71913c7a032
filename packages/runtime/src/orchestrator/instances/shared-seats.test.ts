// Tests how instances get seats in a shared process, with fake processes.
import { describe, expect, test } from 'bun:test';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { bareInstances, ticks } from '../../testing/bare-instances.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import type { ProcessListener } from '../supervision/supervise-process.ts';

const result = { turnId: 'turn', finishReason: 'text_response' } as const;
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** A swarm with one agent, whose only shared process has this number of seats. */
function open({ seats, maxProcesses = 1 }: { readonly seats: number; readonly maxProcesses?: number }) {
  const clock = manualClock();
  const models = { 'Model/m': { provider: 'scripted', model: 'none' } };
  const agents = [{ agentName: 'clerk', models, isolation: 'agent', maxInstances: seats } as const];
  const shared = { changes: 0 };
  const listeners = new Map<string, ProcessListener<FromAgent>>();
  /** `alone`: the keys of instances that got a process of their own. */
  const [drained, alone]: string[][] = [[], []];
  let taken = 0;
  const { instances } = bareInstances(
    { agents, policy: { maxProcesses } },
    {
      clock,
      processes: {
        isShared: () => true,
        // Without a conversation, the process does not run yet.
        roomFor: () => (taken === 0 ? 0 : seats - taken),
        spawn({ instanceKey }, _process, { isAlone }, listener) {
          listeners.set(instanceKey, listener);
          if (isAlone) alone?.push(instanceKey);
          else taken += 1;
          const say = ({ type }: { readonly type: string }) => void (type === 'drain' && drained?.push(instanceKey));
          return { pid: 1, say, kill: () => undefined, ...(isAlone ? {} : { shared }) };
        },
      },
    },
  );
  const work = (instanceKey: string) =>
    instances.post(
      { agentName: 'clerk', instanceKey },
      { type: 'work', seq: 1, event: fakeEvent('one', { id: 'one' }) },
    );
  /** Runs the turn of an instance, which is idle then. */
  const finish = (instanceKey: string) => {
    listeners.get(instanceKey)?.message({ type: 'ready', ...noParts });
    listeners.get(instanceKey)?.message({ type: 'turn.done', eventId: 'one', result, stepCount: 1, usage });
  };
  const exit = (instanceKey: string, sharing?: 'together') => {
    taken -= 1;
    const end =
      sharing === undefined ? { code: 0, signal: null } : ({ code: null, signal: 'SIGKILL', sharing } as const);
    listeners.get(instanceKey)?.exited({ ...end, leftBehind: 0 });
  };
  return { clock, instances, work, finish, exit, opened: listeners, drained: drained ?? [], alone: alone ?? [] };
}

describe('instances that share a process', () => {
  test('take free seats at once, and the longest idle one makes room when all are taken', async () => {
    const { clock, instances, work, finish, exit, opened, drained } = open({ seats: 4 });
    for (const key of ['a', 'b', 'c', 'works']) {
      work(key);
      await ticks();
    }
    expect([...opened.keys()]).toEqual(['a', 'b', 'c', 'works']);
    for (const key of ['b', 'a', 'c']) {
      finish(key);
      await clock.advance(10);
    }
    work('d');
    await ticks();
    expect(drained).toEqual(['b']);
    // A seat becomes free for the one that waits, so no other has to leave.
    instances.waitsChanged();
    await ticks();
    expect(drained).toEqual(['b']);
    exit('b');
    await ticks();
    expect([...opened.keys()]).toEqual(['a', 'b', 'c', 'works', 'd']);
  });

  test('get no seat while their agent is paused, and nobody makes room for them', async () => {
    const { instances, work, finish, opened, drained } = open({ seats: 3 });
    for (const key of ['a', 'works']) {
      work(key);
      await ticks();
    }
    finish('a');
    const resume = instances.pause(new Set(['clerk']));
    for (const key of ['b', 'c']) work(key);
    await ticks();
    expect([[...opened.keys()], drained]).toEqual([['a', 'works'], []]);
    resume();
    await ticks();
    expect([[...opened.keys()], drained]).toEqual([['a', 'works', 'b'], ['a']]);
  });

  test('one that is to be alone waits for a slot, although a seat is free', async () => {
    const { instances, work, exit, opened, alone } = open({ seats: 3 });
    for (const key of ['a', 'b']) {
      work(key);
      await ticks();
    }
    for (const key of ['a', 'b']) opened.get(key)?.message({ type: 'ready', ...noParts });
    exit('a', 'together');
    await ticks();
    expect([alone, instances.waiting]).toEqual([[], 1]);
    exit('b', 'together');
    await ticks();
    expect([alone, instances.waiting]).toEqual([['a'], 1]);
  });
});
