// Tests the time limits of requests between agents, in a swarm with fake agents, a real disk and a manual clock.
import { describe, expect, test } from 'bun:test';
import { textOf as messageText } from '@goondan/types';
import type { SwarmPolicy } from '../../config/swarm-policy.ts';
import type { TurnEnd } from '../../control/swarm.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { type FakeAnswer, type FakeTurn, fakeUsage } from '../../testing/fake-agents.ts';
import { fakeEvent, openFakeSwarm, removeFakeSwarm } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { until } from '../../../../../test/until.ts';

const { cleanups } = closeAfterEach();

interface Times {
  readonly policy?: SwarmPolicy;
  readonly startMs?: number;
  readonly stateRoot?: string;
}

/**
 * Opens a swarm whose agents answer as the test says. The processes of all agents except `a` take `startMs` to start.
 */
async function openSwarm(
  answer: (turn: FakeTurn, wait: (ms: number) => Promise<void>) => Promise<string>,
  times: Times,
) {
  const { policy = {}, startMs = 0, stateRoot } = times;
  const clock = manualClock();
  const begun: string[] = [];
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const counted: FakeAnswer = async (turn) => {
    begun.push(turn.at.agentName);
    return answer(turn, wait);
  };
  const options = { policy, clock, ...(stateRoot === undefined ? {} : { stateRoot }) };
  const opened = await openFakeSwarm(counted, options);
  const { agents, swarm } = opened;
  agents.onStart = (child) => {
    const isSlow = agents.started.find((each) => each.child === child)?.at.agentName !== 'a';
    const ready = () => void child.channel.send({ type: 'ready', extensions: [], layers: [], tools: [] });
    clock.after(isSlow ? startMs : 0, ready);
  };
  const status = (agentName: string) => swarm.instances.find({ agentName, instanceKey: 'default' })?.status;
  if (stateRoot === undefined) cleanups.push(() => removeFakeSwarm(opened));
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    const closed = opened.close();
    // The clock is advanced here, because closing the swarm waits for timers.
    for (let isOver = false; !isOver; await clock.advance(1_000)) {
      isOver = await Promise.race([closed.then(() => true), Bun.sleep(1).then(() => false)]);
    }
  };
  cleanups.push(close);
  /** Advances the clock until the condition is true. Work on the disk takes no time on the manual clock. */
  const advanceUntil = (condition: () => boolean | Promise<boolean>, about: string, ms = 0) =>
    until(
      async () => {
        await clock.advance(ms);
        return condition();
      },
      { about },
    );
  /** Waits until the agent has this status. */
  const reach = async (agentName: string, wanted: string) => {
    await advanceUntil(
      () => status(agentName) === wanted && (wanted !== 'working' || begun.includes(agentName)),
      `${agentName} is ${wanted}`,
    );
  };
  /** Lets time pass while frames are delivered, so that heartbeats are answered. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      await clock.advance(Math.min(left, 1_000));
      for (let hops = 0; hops < 5; hops++) await clock.advance(0);
    }
  };
  return { ...opened, clock, begun, reach, advanceUntil, pass, close };
}

const outcomeOf = async (asked: ReturnType<FakeTurn['call']>) => {
  const outcome = await asked;
  if (outcome.status === 'failed') return `${outcome.error.code}: ${outcome.error.message}`;
  return outcome.status === 'answered' ? messageText(outcome.result.responseMessage) : outcome.status;
};

const textOf = ({ result }: TurnEnd) => messageText(result.responseMessage);

describe('a request between agents', () => {
  test('a planner gets both answers of agents that start for 20 s and think for 40 s, with default settings', async () => {
    const { send, pass, reach } = await openSwarm(
      async ({ at, call }, wait) => {
        if (at.agentName === 'a') {
          const asked = ['b', 'c'].map((agentName) => outcomeOf(call('request', { agentName })));
          return (await Promise.all(asked)).join(' and ');
        }
        await wait(40_000);
        return `${at.agentName} has reviewed it`;
      },
      { startMs: 20_000 },
    );
    const end = send('a', 'plan');
    for (const callee of ['b', 'c']) await reach(callee, 'starting');
    await pass(20_000);
    for (const callee of ['b', 'c']) await reach(callee, 'working');
    await pass(40_000);
    expect(textOf(await end)).toBe('b has reviewed it and c has reviewed it');
  });

  test('A-03 gets an error when queueTimeoutMs runs out, and its event is never run, not even after a restart', async () => {
    const answer = async ({ at, call, event }: FakeTurn) => {
      if (at.agentName === 'a') return outcomeOf(call('request', { agentName: 'b' }, { input: 'queued' }));
      if (event.input === 'busy') await new Promise(() => undefined);
      return `ran ${event.input}`;
    };
    const policy = { queueTimeoutMs: 5_000 };
    const first = await openSwarm(answer, { policy, startMs: 60_000 - 1 });
    void first.send('b', 'busy');
    const end = first.send('a', 'go');
    await first.reach('b', 'starting');
    await first.reach('a', 'working');
    await first.advanceUntil(
      () => first.swarm.instances.find({ agentName: 'b', instanceKey: 'default' })?.state.queue.length === 2,
      'both are in its queue',
    );
    // The start takes longer than the limit for queued requests, but a start has its own limit.
    await first.pass(60_000);
    await first.reach('b', 'working');
    await first.pass(5_000);
    expect(textOf(await end)).toBe(
      'E_AGENT_TIMEOUT: Agent "b" did not begin its turn within 5000 ms (its policy.queueTimeoutMs).',
    );
    await until(
      async () => {
        const entries = await first.journal.pendingEntries({ agentName: 'b', instanceKey: 'default' });
        return entries.some(({ cancelled }) => cancelled !== undefined);
      },
      { about: 'that is on the disk' },
    );
    await first.close();

    const ends: string[] = [];
    const second = await openSwarm(
      async ({ event, signal }) => `${signal.aborted ? 'cancelled' : 'ran'} ${event.input}`,
      { stateRoot: first.stateRoot },
    );
    second.swarm.watchers.add({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended' && notice.end.agent === 'b') ends.push(textOf(notice.end));
    });
    await second.swarm.wake();
    await second.advanceUntil(() => ends.length === 2, 'both are over', 1);
    expect(ends).toEqual(['ran busy', 'cancelled queued']);
  });

  test.each([
    ['starts', 60_000, []],
    ['is busy', 0, ['busy']],
    ['works and does not hear its cancel', 0, []],
  ])('A-03 ends at its limit, counted from the call, while the callee %s', async (_, startMs, work) => {
    const outcomes: string[] = [];
    const late: CallOutcome[] = [];
    const gate = Promise.withResolvers<void>();
    const answer = async ({ at, call }: FakeTurn) => {
      if (at.agentName !== 'a') return gate.promise.then(() => 'too late');
      const limits = { timeoutMs: 300, timeoutFrom: 'call', onLate: (each: CallOutcome) => late.push(each) } as const;
      outcomes.push(await outcomeOf(call('request', { agentName: 'b' }, limits)));
      // Its turn goes on, until the callee has ended.
      await gate.promise;
      if (work.length === 0 && startMs === 0) await until(() => late.length === 1);
      return 'done';
    };
    const { send, swarm, reach, pass, advanceUntil } = await openSwarm(answer, { startMs });
    const busy = work.map((input) => send('b', input));
    if (work.length > 0) await reach('b', 'working');
    const end = send('a', 'go');
    await reach('a', 'working');
    const isWorking = startMs === 0 && work.length === 0;
    if (isWorking) await reach('b', 'working');
    await advanceUntil(
      () => swarm.instances.find({ agentName: 'b', instanceKey: 'default' }) !== undefined,
      'b is asked',
    );
    await pass(299);
    expect(outcomes).toEqual([]);
    await pass(1);
    expect(outcomes).toEqual(['E_AGENT_TIMEOUT: Agent "b" did not answer within 300 ms (timeoutMs of the request).']);
    gate.resolve();
    await Promise.all(busy);
    expect(textOf(await end)).toBe('done');
    expect(late.map((each) => 'usage' in each && each.usage)).toEqual(isWorking ? [fakeUsage] : []);
  });

  test('A-03 starts its time again after a restart of the orchestrator, although the callee is ahead of the caller', async () => {
    const first = await openSwarm(async ({ at, call }) => {
      if (at.agentName === 'a') return outcomeOf(call('request', { agentName: 'b' }, { id: 'same', timeoutMs: 900 }));
      return new Promise(() => undefined);
    }, {});
    void first.swarm.accept({ agentName: 'a', instanceKey: 'default' }, fakeEvent('go', { id: 'go' }), false);
    await first.reach('b', 'working');
    await first.close();

    const gate = Promise.withResolvers<void>();
    const { swarm, reach, advanceUntil, clock, begun } = await openSwarm(
      async ({ at, call }) => {
        if (at.agentName !== 'a') return new Promise(() => undefined);
        await gate.promise;
        return outcomeOf(call('request', { agentName: 'b' }, { id: 'same', timeoutMs: 900 }));
      },
      { stateRoot: first.stateRoot },
    );
    const { end } = swarm.waiters.wait({ agentName: 'a', instanceKey: 'default' }, 'go');
    await swarm.wake();
    await reach('a', 'working');
    await reach('b', 'working');
    gate.resolve();
    await advanceUntil(() => begun.length === 2 && clock.pending > 0, 'a waits');
    const over = end.then(textOf);
    await advanceUntil(
      () => Promise.race([over.then(() => true), Bun.sleep(2).then(() => false)]),
      'its time is up',
      300,
    );
    expect(await over).toContain('within 900 ms of the start of its turn');
  });
});
