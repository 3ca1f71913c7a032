// Tests the swarm with fake agents and a real disk: delivery, order, and crashes.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AgentAddress, textOf as messageText, type TurnDelta } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { CallOutcome, ToAgent } from '../../ipc/to-agent.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import type { FakeAnswer } from '../../testing/fake-agents.ts';
import type { FakeChild } from '../../testing/fake-spawn.ts';
import { fakeEvent as eventOf } from '../../testing/fake-swarm.ts';
import type { TurnEnd } from '../../control/swarm.ts';
import { until } from '../../../../../test/until.ts';

const { openSwarm } = closeAfterEach();

function textOf({ result }: TurnEnd): string {
  if (result.finishReason === 'error') return `failed: ${result.error?.message}`;
  return messageText(result.responseMessage);
}

const name = ({ agentName, instanceKey }: AgentAddress) => `${agentName}/${instanceKey}`;
const echo: FakeAnswer = async ({ at, event }) => `${name(at)}: ${event.input}`;

describe('an event', () => {
  test('R-01 goes to the process of its agent and instance, which is started on demand', async () => {
    const { agents, send } = await openSwarm(echo);
    expect(agents.children).toHaveLength(0);
    const ends = await Promise.all([
      send('a', '1'),
      send('a', '2', { instanceKey: 'other' }),
      send('b', '3'),
      send('a', '4'),
    ]);
    expect(ends.map(textOf)).toEqual(['a/default: 1', 'a/other: 2', 'b/default: 3', 'a/default: 4']);
    expect(agents.started.map(({ at }) => name(at)).toSorted()).toEqual(['a/default', 'a/other', 'b/default']);
  });

  test('is on disk before it is acknowledged, and rejected for an unknown agent or an invalid key', async () => {
    const { swarm, journal } = await openSwarm(async () => new Promise(() => undefined));
    const event = eventOf('kept');
    expect(await swarm.accept({ agentName: 'a', instanceKey: 'default' }, event, false)).toMatchObject({
      duplicate: false,
    });
    const [pending] = await journal.pending({ agentName: 'a', instanceKey: 'default' });
    expect(pending?.id).toBe(event.id);
    const refusal = async (agentName: string, instanceKey: string) =>
      swarm.accept({ agentName, instanceKey }, eventOf('', { instanceKey }), false).catch((error: unknown) => error);
    expect(await refusal('nobody', 'default')).toMatchObject({
      code: 'E_AGENT_UNKNOWN',
      message: 'There is no agent "nobody". Agents: a, b, c, d, e.',
    });
    for (const key of ['', 'k'.repeat(1_025), '\ud800', 'a\0b']) {
      expect(await refusal('a', key)).toMatchObject({ code: 'E_INSTANCE_KEY' });
    }
    expect(await journal.instances()).toHaveLength(1);
  });

  test('is handled once when it comes again, and all waiting callers get the same answer', async () => {
    let turns = 0;
    const { send } = await openSwarm(async () => `turn ${++turns}`);
    const again = { id: 'same' };
    const ends = await Promise.all([send('a', 'x', again), send('a', 'x', again)]);
    expect(ends.map(textOf)).toEqual(['turn 1', 'turn 1']);
    expect(textOf(await send('a', 'x', again))).toBe('turn 1');
    expect(turns).toBe(1);
  });

  test('Y-08 that a running turn takes ends with the trace of that turn', async () => {
    const begun = Promise.withResolvers<FakeChild<ToAgent, FromAgent>>();
    const { send, swarm } = await openSwarm(async ({ child }) => {
      begun.resolve(child);
      return undefined;
    });
    const first = send('a', 'first', { id: 'first', traceId: 'f'.repeat(32) });
    const child = await begun.promise;
    const steered = eventOf('second', { id: 'second', delivery: 'now' });
    const at = { agentName: 'a', instanceKey: 'default' };
    const { end } = swarm.waiters.wait(at, steered.id);
    await swarm.accept(at, steered, true);
    const result = { turnId: 'turn-first', finishReason: 'text_response' } as const;
    const usage = { inputTokens: 2, outputTokens: 2, totalTokens: 4 };
    await child.channel.send({ type: 'turn.done', eventId: 'first', took: ['second'], result, stepCount: 2, usage });
    expect((await Promise.all([first, end])).map(({ eventId, traceId }) => [eventId, traceId])).toEqual([
      ['first', 'f'.repeat(32)],
      ['second', 'f'.repeat(32)],
    ]);
  });

  test('is not handled here while another node owns its instance', async () => {
    const { swarm } = await openSwarm(echo, {
      wrap: (store) => ({ ...store, placement: { ...store.placement, claim: async () => false } }),
    });
    const at = { agentName: 'a', instanceKey: 'default' };
    expect(await swarm.accept(at, eventOf('hello'), false)).toMatchObject({ duplicate: false });
    expect(await swarm.wake()).toBe(0);
    expect(swarm.instances.find(at)).toBeUndefined();
  });

  test('R-06 has an instance and a folder of its own, whatever its key', async () => {
    const { send, journal, stateRoot } = await openSwarm(echo);
    const long = 'k'.repeat(300);
    const keys = ['../../x', 'a/b', 'a.b', long, `${long}2`, '한글', '日本', 'con', '.', 'A', 'a'];
    const ends = await Promise.all(keys.map((key) => send('a', key, { instanceKey: key })));
    expect(ends.map(textOf)).toEqual(keys.map((key) => `a/${key}: ${key}`));
    const folders = keys.map((key) => dirname(journal.scratchFolder({ agentName: 'a', instanceKey: key })));
    expect(new Set(folders.map((each) => each.toLowerCase())).size).toBe(keys.length);
    const instances = join(stateRoot, 'workspaces', 'test', 'instances');
    expect(new Set(folders.map((each) => dirname(each)))).toEqual(new Set([instances]));
    expect(readdirSync(instances)).toHaveLength(keys.length);
  });
});

describe('a watcher that begins in the middle of a turn', () => {
  test('gets the backlog of the turn on request, and nothing when the turn is over', async () => {
    const told = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { send, swarm } = await openSwarm(async ({ child, event }) => {
      const names = { turnId: `turn-${event.id}`, stepId: 's', stepIndex: 0 };
      const caughtUp = reportSoFar(child, { type: 'text', text: 'Good morn', ...names }, event.id);
      for (const text of ['Good ', 'morn']) {
        await child.channel.send({ type: 'delta', eventId: event.id, delta: { type: 'text', text, ...names } });
      }
      told.resolve();
      await goOn.promise;
      await caughtUp;
      await child.channel.send({ type: 'delta', eventId: event.id, delta: { type: 'text', text: 'ing', ...names } });
      return 'Good morning';
    });
    const hear = (soFar: boolean) => {
      const heard: string[] = [];
      const types = ['delta'] as const;
      swarm.watchers.add({ types, soFar }, (notice) => {
        if (notice.type === 'delta' && notice.delta.type === 'text') heard.push(notice.delta.text);
      });
      return heard;
    };
    const first = hear(false);
    const ended = send('a', 'hello');
    await told.promise;
    await until(() => first.length === 2);
    const [late, later] = [hear(true), hear(false)];
    goOn.resolve();
    await ended;
    expect([late, later]).toEqual([['Good morn', 'ing'], ['ing']]);
    expect(hear(true)).toEqual([]);
  });

  test('gets nothing of a process that died: the next one begins again', async () => {
    let isFirst = true;
    const { send, swarm } = await openSwarm(async ({ child, event }) => {
      const names = { turnId: `turn-${event.id}`, stepId: 's', stepIndex: 0 };
      const heard: string[] = [];
      swarm.watchers.add({ types: ['delta'], soFar: true }, () => void heard.push('x'));
      if (!isFirst) return `${heard.length} heard`;
      isFirst = false;
      void reportSoFar(child, { type: 'text', text: 'Good', ...names }, event.id);
      await until(() => heard.length === 1);
      child.exit({ code: 1 });
      return undefined;
    });
    expect(textOf(await send('a', 'hello'))).toBe('0 heard');
  });
});

/** Answers the next question about the turn so far, as an agent process does. Resolves when it is answered. */
function reportSoFar({ channel }: FakeChild<ToAgent, FromAgent>, delta: TurnDelta, eventId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = channel.onMessage((message) => {
      if (message.type !== 'watch' || message.soFar !== true) return;
      stop();
      resolve(channel.send({ type: 'so.far', events: [], deltas: [{ eventId, delta, soFar: 'all' }] }));
    });
  });
}

describe('a process that dies', () => {
  test('R-03 in the middle of a turn is replaced, the next one handles its event, and no other instance notices', async () => {
    let kills = 2;
    const { agents, send } = await openSwarm(async (turn) => {
      if (turn.event.input !== 'fatal' || kills-- <= 0) return echo(turn);
      turn.child.exit({ code: 1 });
      return undefined;
    });
    await send('b', 'before');
    const ends = await Promise.all([send('a', 'fatal'), send('a', 'after'), send('b', 'other')]);
    expect(ends.map(textOf)).toEqual(['a/default: fatal', 'a/default: after', 'b/default: other']);
    expect(agents.started.map(({ at }) => at.agentName).toSorted()).toEqual(['a', 'a', 'a', 'b']);
  });

  test('R-03 three times in the same turn: the fourth folds the event as a dead letter', async () => {
    const { send, lines } = await openSwarm(async (turn) => {
      if (turn.deadLetter) throw new Error('put aside');
      turn.child.exit({ signal: 'SIGKILL' });
      return undefined;
    });
    expect(textOf(await send('a', 'fatal'))).toBe('failed: put aside');
    expect(lines.find(({ event }) => event === 'event.dead_lettered')).toMatchObject({
      agent: 'a',
      level: 'error',
      turnId: expect.stringMatching(/^turn-./),
      traceId: expect.stringMatching(/./),
    });
  });

  test('R-03 is started again only after the backoff, however many events arrive meanwhile', async () => {
    const starts: number[] = [];
    const { send } = await openSwarm(
      async (turn) => {
        starts.push(performance.now());
        if (starts.length > 3) return 'at last';
        turn.child.exit({ code: 1 });
        return undefined;
      },
      { policy: { restart: { quickCrashes: 1, baseMs: 60, maxMs: 1_000 }, crashesBeforeDeadLetter: 9 } },
    );
    const first = send('a', '1');
    const traffic = setInterval(() => void send('a', 'more').catch(() => undefined), 5);
    expect(textOf(await first)).toBe('at last');
    clearInterval(traffic);
    const waits = starts.slice(1, 4).map((at, index) => at - (starts[index] ?? 0));
    for (const [index, least] of [60, 120, 240].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least);
  });

  test('R-03 events accepted before the orchestrator ended are handled by the next one, in order', async () => {
    const before = await openSwarm(async () => new Promise(() => undefined));
    for (const input of ['1', '2', '3']) {
      await before.swarm.accept({ agentName: 'a', instanceKey: 'default' }, eventOf(input), false);
    }
    await before.swarm.drain(0, AbortSignal.abort());
    const heard: string[] = [];
    const after = await openSwarm(
      async ({ event }) => {
        heard.push(event.input ?? '');
        return '';
      },
      { stateRoot: before.stateRoot },
    );
    expect(await after.swarm.wake()).toBe(3);
    await after.swarm.instances.until(() => heard.length === 3);
    expect(heard).toEqual(['1', '2', '3']);
  });
});

/**
 * Answers as the input says: `ask b; ask c` asks these agents one after the other. The part in brackets is the input
 * for the called agent.
 */
const obey: FakeAnswer = async ({ at, event, call }) => {
  const [, verb, target = '', rest = ''] = /^(ask|tell) (\S+) ?(.*)$/.exec(event.input ?? '') ?? [];
  if (verb === undefined) return `${name(at)} says ${event.input}`;
  const [agentName = '', instanceKey = at.instanceKey] = target.split('/');
  const outcome = await call(verb === 'ask' ? 'request' : 'send', { agentName, instanceKey }, { input: rest });
  if (outcome.status === 'accepted') return `${name(at)} told ${agentName}`;
  if (outcome.status === 'failed') return `${outcome.error.code}: ${outcome.error.message}`;
  return `${name(at)} heard: ${messageText(outcome.result.responseMessage)}`;
};

describe('agents that ask each other', () => {
  test('A-05 start their callee, and get the answer', async () => {
    const { send, agents } = await openSwarm(obey);
    expect(textOf(await send('a', 'ask b ask c hello'))).toContain('c/default says hello');
    expect(agents.started.map(({ at }) => at.agentName)).toEqual(['a', 'b', 'c']);
  });

  test('A-03 get E_AGENT_TIMEOUT with the tokens of the callee, which is cancelled, and its late answer is dropped', async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const { send, swarm, lines } = await openSwarm(async (turn) => {
      if (turn.at.agentName === 'a') {
        const late = Promise.withResolvers<CallOutcome>();
        const limits = { timeoutMs: 250, onLate: late.resolve };
        const outcome = await turn.call('request', { agentName: 'b' }, { input: 'slow', ...limits });
        if (outcome.status !== 'failed') return 'answered';
        const tokens = await late.promise;
        const count = 'usage' in tokens ? tokens.usage?.totalTokens : undefined;
        return `${outcome.error.code} after ${count} tokens: ${outcome.error.message}`;
      }
      if (turn.event.input !== 'slow') return 'quick';
      // On a busy machine the turn may begin so late that it is already cancelled.
      if (!turn.signal.aborted) await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      cancelled.resolve(turn.signal.reason);
      return 'too late';
    });
    const end = await send('a', 'go');
    const problem = 'did not answer within 250 ms of the start of its turn (timeoutMs of the request)';
    expect(textOf(end)).toBe(`E_AGENT_TIMEOUT after 2 tokens: Agent "b" ${problem}.`);
    expect(await cancelled.promise).toBe(problem);
    expect(textOf(await send('b', 'next'))).toBe('quick');
    await swarm.instances.until(() => true);
    expect(lines.some(({ event }) => event === 'reply.late')).toBe(true);
  });

  test('A-05 never mix answers or instances of two tenants', async () => {
    const { send, agents } = await openSwarm(obey);
    const tenants = Array.from({ length: 20 }, (_, index) => `tenant-${index}`);
    const ends = await Promise.all(
      tenants.map((instanceKey) => send('a', `ask b secret of ${instanceKey}`, { instanceKey })),
    );
    for (const [index, tenant] of tenants.entries()) {
      const end = ends[index];
      expect(end === undefined ? '' : textOf(end)).toContain(`b/${tenant} says secret of ${tenant}`);
    }
    expect(new Set(agents.started.map(({ at }) => name(at))).size).toBe(40);
  });

  test('A-05 get their answer although the callee dies once on the way, and again when they die themselves', async () => {
    const deaths = new Set(['b', 'a']);
    const { send } = await openSwarm(async (turn) => {
      const { agentName } = turn.at;
      if (agentName === 'b' && deaths.delete('b')) {
        turn.child.exit({ code: 1 });
        return undefined;
      }
      if (agentName === 'b') return 'the answer';
      const outcome = await turn.call('request', { agentName: 'b' }, { id: `${turn.event.id}:1` });
      if (deaths.delete('a')) {
        turn.child.exit({ code: 1 });
        return undefined;
      }
      return outcome.status;
    });
    expect(textOf(await send('a', 'go'))).toBe('answered');
    expect(deaths.size).toBe(0);
  });

  test('hold all slots, and still get their callees', async () => {
    const { send } = await openSwarm(obey, { policy: { maxProcesses: 2 } });
    const ends = await Promise.all([send('a', 'ask b ask c x'), send('a', 'ask b y', { instanceKey: 'two' })]);
    expect(ends.map(textOf).every((text) => text.includes('says'))).toBe(true);
  });
});

describe('a swarm with one process', () => {
  test('starts eight for people in a row, and then the one that an agent wrote to', async () => {
    const gate = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const { send, swarm, agents } = await openSwarm(
      async (turn) => {
        if (turn.at.agentName !== 'a') return echo(turn);
        await turn.call('send', { agentName: 'b' });
        sent.resolve();
        await gate.promise;
        return 'sent';
      },
      { policy: { maxProcesses: 1 } },
    );
    const first = send('a', 'go');
    await sent.promise;
    for (let number = 0; number < 10; number++) {
      const instanceKey = `person-${number}`;
      await swarm.accept({ agentName: 'c', instanceKey }, eventOf('hello', { instanceKey }), false);
    }
    gate.resolve();
    await first;
    await until(() => agents.started.length === 12);
    // Eight processes start before that of `b`: first the process of `a`, which a person asked, and then seven for
    // other persons.
    expect(agents.started.findIndex(({ at }) => at.agentName === 'b')).toBe(8);
  });
});

describe('a stopping swarm', () => {
  test('R-07 lets turns finish, awaited instances last, and starts nothing new', async () => {
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { send, swarm, agents, journal } = await openSwarm(async (turn) => {
      if (turn.at.agentName === 'b') {
        asked.resolve();
        await gate.promise;
      }
      return obey(turn);
    });
    const end = send('a', 'ask b patience');
    await asked.promise;
    const drained = swarm.drain(5_000, new AbortController().signal);
    await swarm.accept({ agentName: 'c', instanceKey: 'default' }, eventOf('later'), false);
    gate.resolve();
    expect(textOf(await end)).toContain('b/default says patience');
    await drained;
    expect(agents.started.map(({ at }) => at.agentName)).toEqual(['a', 'b']);
    expect(await journal.pending({ agentName: 'c', instanceKey: 'default' })).toHaveLength(1);
  });

  test('R-07 starts nothing for events written after the end; the next start handles them', async () => {
    const { swarm, agents, journal } = await openSwarm(echo);
    await swarm.drain(1_000, new AbortController().signal);
    for (const isAwaited of [true, false]) {
      await swarm.accept({ agentName: 'a', instanceKey: 'default' }, eventOf('late'), isAwaited);
    }
    await Bun.sleep(20);
    expect(agents.children).toHaveLength(0);
    expect(await journal.pending({ agentName: 'a', instanceKey: 'default' })).toHaveLength(2);
  });

  test('R-07 kills turns that are not finished within the grace, and keeps their events', async () => {
    const { swarm, agents, journal } = await openSwarm(async () => new Promise(() => undefined));
    await swarm.accept({ agentName: 'a', instanceKey: 'default' }, eventOf('endless'), false);
    await swarm.instances.until(
      () => swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.status === 'working',
    );
    await swarm.drain(20, new AbortController().signal);
    expect(agents.children.map(({ kills }) => kills)).toEqual([[0]]);
    expect(await journal.pending({ agentName: 'a', instanceKey: 'default' })).toHaveLength(1);
  });
});

test('L-02 a deleted or reset conversation loses its keepers before its files, because a kept server may use them', async () => {
  const order: string[] = [];
  const opened = await openSwarm(echo, {
    keepers: {
      attach: (_at, agent) => agent,
      settle: () => undefined,
      retain: () => undefined,
      endConversation: async (at) => void order.push(`keepers of ${name(at)}`),
    },
  });
  await opened.send('a', 'hello');
  const at = { agentName: 'a', instanceKey: 'default' };
  const grace = { graceMs: 1_000, cleanUpMs: 1_000 };
  await opened.swarm.resetInstance(at, grace, async () => void order.push('reset'));
  await opened.swarm.discard(at, grace, async () => void order.push('delete'));
  expect(order).toEqual(['keepers of a/default', 'reset', 'keepers of a/default', 'delete']);
});

test('an exited process leaves its scratch folder only if the folder has files or is the place of a keeper', async () => {
  const scratchOf = (instanceKey: string) => opened.journal.scratchFolder({ agentName: 'a', instanceKey });
  const opened = await openSwarm(echo, {
    keepers: {
      attach: (_at, agent) => agent,
      settle: () => undefined,
      retain: () => undefined,
      endConversation: async () => undefined,
      worksIn: (folder) => folder === scratchOf('kept'),
    },
  });
  const keys = ['empty', 'used', 'kept'];
  await Promise.all(keys.map((instanceKey) => opened.send('a', 'hello', { instanceKey })));
  expect(keys.filter((key) => existsSync(scratchOf(key)))).toEqual(keys);
  writeFileSync(join(scratchOf('used'), 'note'), 'mine');
  await opened.swarm.drain(1_000, AbortSignal.abort());
  expect(keys.filter((key) => existsSync(scratchOf(key)))).toEqual(['used', 'kept']);
  expect(existsSync(dirname(scratchOf('empty')))).toBe(true);
});
