import { describe, expect, spyOn, test } from 'bun:test';
import { textOf } from '@goondan/types';
import type { SwarmPolicy } from '../../config/swarm-policy.ts';
import { systemClock } from '../../ports/clock.ts';
import { randomIds } from '../../ports/ids.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { type FakeAnswer, noParts } from '../../testing/fake-agents.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { toAgentAddress, toInstanceAddress } from '../../control/instance-address.ts';
import { localSwarm, type LocalSwarmDeps } from './local-swarm.ts';
import type { SwarmNotice } from '../../control/swarm.ts';
import { until } from '../../../../../test/until.ts';

const { cleanups, openSwarm } = closeAfterEach();

async function open(
  answer: FakeAnswer,
  policy: SwarmPolicy = {},
  secrets: readonly string[] = [],
  stopped = new Promise<void>(() => undefined),
) {
  const opened = await openSwarm(answer, { policy, secrets });
  const graces: number[] = [];
  const deps: LocalSwarmDeps = {
    swarm: opened.swarm,
    store: opened.store,
    clock: systemClock,
    ids: randomIds,
    entryAgent: () => 'a',
    graceMs: () => 1_000,
    reload: () => Promise.reject(new Error('not here')),
    describe: () => ({ swarm: 'test', workspaceId: 'test', pid: 1, startedAt: '', version: '0', connections: [] }),
    stopped,
    stop: async (graceMs) => void graces.push(graceMs),
  };
  const control = localSwarm(deps);
  return { ...opened, deps, control, graces };
}

const echo: FakeAnswer = async ({ at, event }) => `${at.agentName}/${at.instanceKey}: ${event.input}`;
describe('a delivery', () => {
  test('goes to the entry agent and the instance "default" unless it names others, and gets ids', async () => {
    const { control, agents } = await open(echo);
    const accepted = await control.deliver({ input: 'hello' });
    expect(accepted).toMatchObject({ accepted: true, agent: 'a', instanceKey: 'default', duplicate: false });
    expect(accepted.turnId).toBe(`turn-${accepted.eventId}`);
    expect(accepted.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(await control.deliver({ agent: 'b', instanceKey: 'k', id: 'mine' })).toMatchObject({
      agent: 'b',
      instanceKey: 'k',
      eventId: 'mine',
      turnId: 'turn-mine',
    });
    await until(() => agents.started.length === 2);
    expect(await control.deliver({ agent: 'b', instanceKey: 'k', id: 'mine' })).toMatchObject({ duplicate: true });
  });

  test.each([
    [{ id: '' }, 'id is not a text of 1 to 256 characters'],
    [{ id: 'x'.repeat(257) }, 'id is not a text of 1 to 256 characters'],
    [{ id: '\ud800' }, 'id is not a text of 1 to 256 characters'],
    [{ input: 7 as never }, 'input is not a text'],
    [{ traceId: '0'.repeat(32) }, 'traceId is not 32 hexadecimal digits'],
    [{ traceId: 'XYZ' }, 'traceId is not 32 hexadecimal digits'],
    [{ parentSpanId: 'b'.repeat(16) }, 'parentSpanId needs a traceId'],
    [{ traceId: 'a'.repeat(32), parentSpanId: 'b' }, 'parentSpanId is not 16 hexadecimal digits'],
    [{ isSampled: 'no' as never }, 'isSampled is neither true nor false'],
    [{ metadata: { f: (() => 1) as never } }, 'metadata: f is a function'],
    [{ auth: [] as never }, 'auth: the value is an array'],
  ])('is rejected when it is invalid: %#', async (delivery, problem) => {
    const { control } = await open(echo);
    expect(await rejectionOf(control.deliver(delivery))).toMatchObject({
      code: 'E_EVENT_INVALID',
      message: expect.stringContaining(problem),
    });
  });

  test('is rejected for an unknown agent', async () => {
    const { control } = await open(echo);
    expect(await rejectionOf(control.deliver({ agent: 'z' }))).toMatchObject({ code: 'E_AGENT_UNKNOWN' });
  });
});

describe('an ask', () => {
  test('reports acceptance, notices and the end', async () => {
    const { control } = await open(async (turn) => {
      const delta = { type: 'text', text: 'h', turnId: 't', stepId: 's', stepIndex: 0 } as const;
      await turn.child.channel.send({ type: 'delta', eventId: turn.event.id, delta });
      return echo(turn);
    });
    const heard: string[] = [];
    const end = await control.ask(
      { input: 'hello', instanceKey: 'k' },
      {
        onAccepted: ({ eventId }) => heard.push(`accepted ${eventId.slice(0, 5)}`),
        onNotice: ({ type }) => heard.push(type),
      },
    );
    expect(heard).toEqual(['accepted event', 'delta', 'turn.ended']);
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    expect(end).toMatchObject({ agent: 'a', instanceKey: 'k', stepCount: 1, usage });
    expect(textOf(end.result.responseMessage)).toBe('a/k: hello');
  });

  test('may be given up: its turn is cancelled, running or waiting', async () => {
    const { control, swarm } = await open(async ({ signal }) => {
      throw new Error(await abortOf(signal));
    });
    const one = new AbortController();
    const two = new AbortController();
    const first = control.ask({ input: '1' }, { signal: one.signal });
    const second = control.ask({ input: '2' }, { signal: two.signal });
    await until(() => swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.state.queue.length === 2);
    two.abort();
    one.abort();
    expect((await first).result.error?.message).toBe('cancelled by a client');
    expect((await second).result.error?.message).toBe('cancelled by a client');
    expect(await rejectionOf(control.ask({}, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'E_CANCELLED' });
  });

  test('fails when the agent does not start, and its event stays', async () => {
    const { control, journal, agents } = await open(echo);
    agents.onStart = (child) => child.exit({ code: 3 });
    expect(await rejectionOf(control.ask({ input: 'x' }))).toMatchObject({
      code: 'E_AGENT_START',
      message: "The agent's process could not start: it ended with code 3.",
    });
    expect(await journal.pending({ agentName: 'a', instanceKey: 'default' })).toHaveLength(1);
  });
});

/** Resolves with the reason of the cancel. The cancel may come before or after the start of the turn. */
function abortOf(signal: AbortSignal): Promise<string> {
  const aborted = Promise.withResolvers<string>();
  const tell = () => aborted.resolve(String(signal.reason));
  signal.addEventListener('abort', tell, { once: true });
  if (signal.aborted) tell();
  return aborted.promise;
}

describe('a cancel', () => {
  test('by the id of an event never ends the turn of another event', async () => {
    const { control, swarm } = await open(({ signal }) => abortOf(signal));
    const asked = ['mail', 'turn-mail'].map((id) => control.ask({ id }));
    await until(() => swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.state.queue.length === 2);
    expect(await control.cancel({ eventId: 'turn-mail', reason: 'this one' })).toBe(true);
    expect(await control.cancel({ eventId: 'mail', reason: 'the other' })).toBe(true);
    const ends = await Promise.all(asked);
    expect(ends.map(({ result }) => textOf(result.responseMessage))).toEqual(['the other', 'this one']);
  });

  test('ends the running turn or a turn by its id, and is false without a turn', async () => {
    const { control, swarm } = await open(({ signal }) => abortOf(signal));
    expect(await control.cancel({})).toBe(false);
    const first = control.ask({ id: 'first' });
    const second = control.ask({ id: 'second' });
    const asked = { agentName: 'a', instanceKey: 'default' };
    await until(() => swarm.instances.find(asked)?.running?.id === 'first');
    await until(() => swarm.instances.find(asked)?.state.queue.length === 2);
    expect(await control.cancel({ eventId: 'nobody' })).toBe(false);
    expect(await control.cancel({ eventId: 'second', reason: 'not needed' })).toBe(true);
    expect(await control.cancel({ eventId: 'second' })).toBe(false);
    expect(await control.cancel({ agent: 'a', instanceKey: 'default' })).toBe(true);
    expect(textOf((await first).result.responseMessage)).toBe('cancelled by a client');
    expect(textOf((await second).result.responseMessage)).toBe('not needed');
    const elsewhere = control.ask({ agent: 'b', instanceKey: 'k' });
    await until(async () =>
      (await control.status()).instances.some(({ agent, status }) => agent === 'b' && status === 'working'),
    );
    expect(await Promise.all([{}, { agent: 'b' }, { instanceKey: 'k' }].map((at) => control.cancel(at)))).toEqual([
      false,
      false,
      false,
    ]);
    expect(await control.cancel({ agent: 'b', instanceKey: 'k' })).toBe(true);
    expect(textOf((await elsewhere).result.responseMessage)).toBe('cancelled by a client');
    expect(await rejectionOf(control.cancel({ agent: 'z' }))).toMatchObject({ code: 'E_AGENT_UNKNOWN' });
  });

  test('by an id finds the turn in any conversation, and never chooses between two', async () => {
    const { control } = await open(() => new Promise(() => undefined));
    const { eventId } = await control.deliver({ agent: 'b', instanceKey: 'k' });
    const short = eventId.slice('event-'.length, 'event-'.length + 8);
    expect(await control.cancel({ agent: 'a', eventId: short })).toBe(false);
    expect(await control.cancel({ instanceKey: 'default', eventId: short })).toBe(false);
    expect(await control.cancel({ eventId: short })).toBe(true);
    for (const instanceKey of ['k', 'l']) await control.deliver({ agent: 'b', instanceKey, id: 'mail' });
    expect(await rejectionOf(control.cancel({ eventId: 'mail' }))).toMatchObject({
      code: 'E_TRACE_AMBIGUOUS',
      message: '"mail" may be mail of b (k), mail of b (l).',
      suggestion: 'Name the agent and the conversation too.',
    });
    expect(await control.cancel({ instanceKey: 'l', eventId: 'mail' })).toBe(true);
    // The default conversation is searched first.
    await control.deliver({ id: 'mail' });
    expect(await control.cancel({ eventId: 'mail' })).toBe(true);
    expect(await control.cancel({ agent: 'b', instanceKey: 'k', eventId: 'mail' })).toBe(true);
  });

  test('is on disk before it is confirmed, without secrets and within its length limit', async () => {
    const { control, journal } = await open(() => new Promise(() => undefined), {}, ['a-secret-value']);
    await control.deliver({ id: 'e1', input: 'hello' });
    expect(await control.cancel({ eventId: 'e1', reason: `because of a-secret-value${'!'.repeat(2_000)}` })).toBe(true);
    const [entry] = await journal.pendingEntries({ agentName: 'a', instanceKey: 'default' });
    expect(entry?.cancelled).toStartWith('because of ***!!!');
    expect(entry?.cancelled).toHaveLength(1_000);
  });

  test('by an ask is confirmed when it is on disk', async () => {
    const { control, journal } = await open(() => new Promise(() => undefined));
    const cancel = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const asking = control.ask(
      { id: 'e1', input: 'hello' },
      { signal: cancel.signal, onCancelled: cancelled.resolve, onAccepted: () => cancel.abort() },
    );
    asking.catch(() => undefined);
    await cancelled.promise;
    const entries = await journal.pendingEntries({ agentName: 'a', instanceKey: 'default' });
    expect(entries.map(({ cancelled: why }) => why)).toEqual(['cancelled by a client']);
  });

  test('still ends the turn when it cannot be written, and is reported', async () => {
    const { control, journal, lines } = await open(({ signal }) => abortOf(signal));
    const first = control.ask({ id: 'e1' });
    await until(async () => (await control.status()).instances.some(({ status }) => status === 'working'));
    journal.cancel = () => Promise.reject(new Error('the disk is full'));
    expect(await control.cancel({ eventId: 'e1', reason: 'enough' })).toBe(true);
    expect(textOf((await first).result.responseMessage)).toBe('enough');
    expect(lines.find(({ event }) => event === 'cancel.not_written')).toMatchObject({
      message: expect.stringContaining('the disk is full'),
      turnId: 'turn-e1',
    });
  });
});

describe('a swarm reports', () => {
  test('status and instances: working, asleep, waiting', async () => {
    const gate = Promise.withResolvers<void>();
    const { control } = await open(async (turn) => {
      if (turn.at.agentName === 'b') await gate.promise;
      return echo(turn);
    });
    await control.ask({ input: 'x' });
    const working = control.ask({ agent: 'b' });
    await until(async () => (await control.status()).instances.some(({ status }) => status === 'working'));
    const { instances, ...rest } = await control.status();
    expect(rest).toMatchObject({ swarm: 'test', entryAgent: 'a', agents: ['a', 'b', 'c', 'd', 'e'] });
    expect(instances.map(({ agent, status, queued }) => [agent, status, queued])).toEqual([
      ['a', 'idle', 0],
      ['b', 'working', 1],
    ]);
    gate.resolve();
    await working;
    await control.restart({ agent: 'a' });
    const all = await control.instances();
    expect(all.map(({ agent, status }) => `${agent} ${status}`).toSorted()).toEqual(['a asleep', 'b idle']);
  });

  test('notices to watchers', async () => {
    const { control } = await open(echo);
    const heard: SwarmNotice['type'][] = [];
    const watch = await control.watch({ types: ['turn.ended'], agent: 'b' }, ({ type }) => void heard.push(type));
    await control.ask({ agent: 'a' });
    await control.ask({ agent: 'b' });
    watch.end();
    await control.ask({ agent: 'b' });
    expect(heard).toEqual(['turn.ended']);
    await watch.ended;
  });

  test('nothing for an empty name or an empty list of types', async () => {
    const { control } = await open(echo);
    const heard: unknown[] = [];
    await control.watch({ types: [] }, (notice) => void heard.push(notice));
    await control.watch({ instanceKey: '' }, (notice) => void heard.push(notice));
    await control.ask({ agent: 'a' });
    expect(heard).toEqual([]);
    expect(await control.restart({ instanceKey: '' })).toBe(0);
    expect(await control.deadLetters({ instanceKey: '' })).toEqual([]);
  });

  test('dead letters of instances that no node owns', async () => {
    const { deps } = await open(echo);
    const letter = { event: fakeEvent('dead'), crashes: 3, deadAt: new Date(0), reason: 'it crashes' };
    const asleep = [
      { agentName: 'a', instanceKey: 'one' },
      { agentName: 'b', instanceKey: 'two' },
    ];
    const deadLetters = { ...deps.store.deadLetters, list: async () => [letter] };
    const control = localSwarm({ ...deps, store: { ...deps.store, deadLetters }, findLettered: async () => asleep });
    const listed = async (choice = {}) => (await control.deadLetters(choice)).map(({ instanceKey }) => instanceKey);
    expect([await listed(), await listed({ agent: 'b' })]).toEqual([['one', 'two'], ['two']]);
  });

  test('its stop to watchers', async () => {
    const stopping = Promise.withResolvers<void>();
    const { control } = await open(echo, {}, [], stopping.promise);
    const watch = await control.watch({}, () => undefined);
    const isOver = watch.ended.then(() => true);
    expect(await Promise.race([isOver, Bun.sleep(5).then(() => false)])).toBe(false);
    stopping.resolve();
    expect(await isOver).toBe(true);
    await (
      await control.watch({}, () => undefined)
    ).ended;
  });
});

describe('a restart', () => {
  test('counts the instances that had a process, and replaces it each time', async () => {
    const { control, agents } = await open(echo);
    await control.ask({ agent: 'a' });
    await control.ask({ agent: 'b' });
    expect(await control.restart()).toBe(2);
    expect(await control.restart()).toBe(0);
    for (const _ of [1, 2]) {
      await control.ask({ agent: 'b' });
      expect(await control.restart()).toBe(1);
    }
    await control.ask({ agent: 'b' });
    expect(agents.started.map(({ at }) => at.agentName)).toEqual(['a', 'b', 'b', 'b', 'b']);
  });

  test('replaces the chosen processes between turns, and loses nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const { control, agents, swarm } = await open(async (turn) => {
      if (turn.event.input === 'slow') await gate.promise;
      return echo(turn);
    });
    await control.ask({ agent: 'b' });
    const slow = control.ask({ input: 'slow' });
    const next = control.ask({ input: 'next' });
    await until(() => swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.state.queue.length === 2);
    const restarted = control.restart({ agent: 'a' });
    gate.resolve();
    expect(textOf((await slow).result.responseMessage)).toBe('a/default: slow');
    expect(textOf((await next).result.responseMessage)).toBe('a/default: next');
    expect(await restarted).toBe(1);
    expect(agents.started.map(({ at }) => at.agentName)).toEqual(['b', 'a', 'a']);
    expect(await rejectionOf(control.restart({ agent: 'z' }))).toMatchObject({ code: 'E_AGENT_UNKNOWN' });
  });

  test.each([
    ['restarts', {}],
    ['restarts with --fresh', { fresh: true }],
  ])('%s that come whenever a process starts do not starve an input', async (_, choice) => {
    const { control, agents, swarm } = await open(echo);
    const holds = spyOn(swarm.instances, 'whileAsleep');
    const restarts: Promise<number>[] = [];
    agents.onStart = (child) => {
      // Two for each start, and no end in sight: without a rule, no process would ever begin the turn.
      const restart = () => control.restart({ agent: 'a', ...choice });
      if (restarts.length < 40) restarts.push(restart(), restart());
      setTimeout(() => void child.channel.send({ type: 'ready', ...noParts }).catch(() => undefined), 5);
    };
    const { result } = await control.ask({ input: 'x' });
    expect([textOf(result.responseMessage), agents.started.length]).toEqual(['a/default: x', 1]);
    // The process that was starting is replaced all the same, once for both restarts.
    expect(await Promise.all(restarts)).toEqual([1, 1]);
    expect(holds).toHaveBeenCalledTimes(1);
    expect((await control.status()).instances.filter(({ status }) => status !== 'asleep')).toEqual([]);
  });

  test('keeps the place in line of an instance without a process', async () => {
    const { control, agents, swarm } = await open(
      async (turn) => {
        if (turn.event.input === 'hold') await gate.promise;
        return echo(turn);
      },
      { maxProcesses: 1 },
    );
    const gate = Promise.withResolvers<void>();
    const held = control.ask({ agent: 'a', input: 'hold' });
    await until(() => agents.started.length === 1);
    const [first, second] = [control.ask({ agent: 'b', input: 'x' }), control.ask({ agent: 'c', input: 'x' })];
    await until(() => swarm.instances.waiting === 2);
    expect(await control.restart({ agent: 'b' })).toBe(1);
    gate.resolve();
    await Promise.all([held, first, second]);
    expect(agents.started.map(({ at }) => at.agentName)).toEqual(['a', 'b', 'c']);
  });

  test('R-07 --fresh resets the conversations, also of sleeping instances', async () => {
    const { control, journal, swarm } = await open(echo);
    const at = { agentName: 'a', instanceKey: 'default' };
    const opened = await journal.open(at, 'turn-0');
    await journal.commit(
      at,
      opened.epoch,
      'turn-0',
      { type: 'append', messages: [] },
      { memory: 1 },
      { turnId: 'turn-0', finishReason: 'text_response' },
    );
    await journal.close(at);
    expect((await journal.read(at)).extensionState).toEqual({ memory: 1 });
    await swarm.wake();
    expect(await control.restart({ agent: 'a', fresh: true })).toBe(1);
    expect((await journal.read(at)).extensionState).toEqual({});
  });
});

test('a reset that is refused leaves what is always allowed', async () => {
  const { deps, journal, store, swarm } = await open(echo);
  const at = { agentName: 'a', instanceKey: 'default' };
  await journal.recover(at);
  await journal.close(at);
  await swarm.wake();
  using end = spyOn(swarm.questions.grants, 'end');
  const reset = () => Promise.reject(new Error('The files are damaged.'));
  const refusing = localSwarm({ ...deps, store: { ...store, admin: { ...store.admin, reset } } });
  expect(await rejectionOf(refusing.restart({ agent: 'a', fresh: true }))).toMatchObject({
    message: 'The files are damaged.',
  });
  expect(end).not.toHaveBeenCalled();
  expect(await localSwarm(deps).restart({ agent: 'a', fresh: true })).toBe(1);
  expect(end.mock.calls).toMatchObject([[at]]);
});

describe('a restart of an instance that does not start', () => {
  test.each([
    ['restart', {}],
    ['restart --fresh', { fresh: true }],
  ])('%s tries it again, and its input is handled', async (_, choice) => {
    const { control, agents } = await open(echo);
    agents.onStart = (child) => {
      const error = { code: 'E_EXT_INIT', message: 'register failed' } as const;
      void child.channel.send({ type: 'start.failed', error }).then(() => child.exit({ code: 1 }));
    };
    await control.deliver({ id: 'one', input: 'x' });
    await until(async () => (await control.status()).instances[0]?.status === 'does not start');
    agents.onStart = undefined;
    expect(await control.restart(choice)).toBe(1);
    await until(async () => (await control.status()).instances[0]?.status === 'idle');
    expect((await control.status()).instances[0]).toMatchObject({ queued: 0, crashes: 0 });
    expect(agents.started).toHaveLength(2);
  });
});

test('the status says in which code the last process of a waiting turn was blocked, as a problem until the turn ends', async () => {
  const blocked = 'blocked in tool archive__run (archive.ts)';
  const gate = Promise.withResolvers<void>();
  const { control, agents } = await open(async (turn) => {
    if (agents.started.length > 1) return gate.promise.then(() => echo(turn));
    turn.child.exit({ signal: 'SIGKILL', blocked });
    return undefined;
  });
  const asked = control.ask({ input: 'x' });
  const first = async () => (await control.status()).instances[0];
  await until(() => agents.started.length === 2);
  expect((await first())?.problem).toBe(`Its last process did not answer: it was ${blocked}.`);
  gate.resolve();
  expect(textOf((await asked).result.responseMessage)).toBe('a/default: x');
  const after = await first();
  expect(after).toMatchObject({ status: 'idle', lastBlocked: { code: blocked, agoMs: expect.any(Number) } });
  expect(after?.problem).toBeUndefined();
});

describe('a deletion', () => {
  const at = { agentName: 'a', instanceKey: 'default' };

  test('is rejected while input is pending, and then ends no process', async () => {
    const gate = Promise.withResolvers<void>();
    const { control, agents, journal } = await open(async (turn) => {
      await gate.promise;
      return echo(turn);
    });
    const asked = control.ask({ input: 'slow' });
    await until(() => agents.started.length === 1);
    expect(await rejectionOf(control.deleteInstance(toInstanceAddress(at)))).toMatchObject({
      code: 'E_INSTANCE_PENDING',
      message: expect.stringContaining('1 accepted input that is not handled yet'),
    });
    gate.resolve();
    expect(textOf((await asked).result.responseMessage)).toBe('a/default: slow');
    expect(agents.started).toHaveLength(1);
    // Now an input exists only on disk.
    await journal.accept(at, fakeEvent('left behind'));
    expect(await rejectionOf(control.deleteInstance(toInstanceAddress(at)))).toMatchObject({
      code: 'E_INSTANCE_PENDING',
    });
    expect(await journal.has(at)).toBe(true);
  });

  test('with force: the running turn ends, waiting callers of lost inputs get an error, and the next input starts anew', async () => {
    const gate = Promise.withResolvers<void>();
    const { control, agents, journal, swarm } = await open(async (turn) => {
      if (turn.event.input === 'slow') await gate.promise;
      if (turn.at.agentName === 'b') return JSON.stringify(await turn.call('request', { agentName: 'a' }));
      return echo(turn);
    });
    const slow = control.ask({ input: 'slow' });
    const next = rejectionOf(control.ask({ input: 'next', id: 'known' }));
    const byAgent = control.ask({ agent: 'b' });
    await until(() => swarm.instances.find(at)?.state.queue.length === 3);
    const deleted = control.deleteInstance({ ...toInstanceAddress(at), force: true });
    gate.resolve();
    expect(textOf((await slow).result.responseMessage)).toBe('a/default: slow');
    expect(await deleted).toEqual({ inputs: 2 });
    expect(await next).toMatchObject({ code: 'E_INSTANCE_DELETED' });
    expect(textOf((await byAgent).result.responseMessage)).toContain('E_INSTANCE_DELETED');
    expect(await journal.has(at)).toBe(false);
    expect((await control.instances()).map(({ agent }) => agent)).toEqual(['b']);

    expect(await control.deliver({ input: 'next', id: 'known' })).toMatchObject({ duplicate: false });
    await until(() => agents.started.filter((each) => each.at.agentName === 'a').length === 2);
  });

  test('input accepted at the same time is deleted and never run; later input is run', async () => {
    const { control, agents, journal } = await open(echo);
    await control.deliver({ input: 'first', instanceKey: 'k' });
    for (let round = 0; round < 5; round += 1) {
      const accepted = control.deliver({ id: `lost-${round}` });
      const deleted = control.deleteInstance({ ...toInstanceAddress(at), force: true });
      expect(await accepted).toMatchObject({ duplicate: false });
      expect(await deleted).toEqual({ inputs: 1 });
    }
    await Bun.sleep(100);
    expect(await journal.has(at)).toBe(false);
    expect(agents.started.map((each) => each.at.instanceKey)).toEqual(['k']);
    const last = control.ask({ input: 'last' });
    expect(textOf((await last).result.responseMessage)).toBe('a/default: last');
  });

  test('takes an instance out of the line for processes', async () => {
    const gate = Promise.withResolvers<void>();
    cleanups.push(() => gate.resolve());
    const { control, agents, swarm } = await open(
      async (turn) => {
        await gate.promise;
        return echo(turn);
      },
      { maxProcesses: 1 },
    );
    void control.ask({ agent: 'b' }).catch(() => undefined);
    await until(() => agents.started.length === 1);
    await control.deliver({ input: 'waits' });
    expect(swarm.instances.waiting).toBe(1);
    await control.deleteInstance({ ...toInstanceAddress(at), force: true });
    expect(swarm.instances.waiting).toBe(0);
  });

  test('is rejected for an unknown instance, and works for an agent that the swarm no longer has', async () => {
    const { control, journal } = await open(echo);
    expect(await rejectionOf(control.deleteInstance(toInstanceAddress(at)))).toMatchObject({
      code: 'E_INSTANCE_UNKNOWN',
    });
    const old = { agentName: 'z', instanceKey: 'default' };
    await journal.recover(old);
    await journal.close(old);
    expect(await control.deleteInstance(toInstanceAddress(old))).toEqual({ inputs: 0 });
    expect(await journal.has(old)).toBe(false);
    await control.stop();
    expect(await rejectionOf(control.deleteInstance(toInstanceAddress(old)))).toMatchObject({
      code: 'E_SWARM_STOPPED',
    });
  });
});

describe('a fork', () => {
  const at = { agentName: 'a', instanceKey: 'default' };

  test('is known at once, and gets its input; an existing instance is not touched', async () => {
    const { control, agents, journal } = await open(echo);
    await journal.recover(at);
    await journal.close(at);
    expect(await control.forkInstance({ ...toInstanceAddress(at), as: 'copy' })).toEqual({
      seq: 0,
      messages: 0,
      unknownStates: [],
    });
    expect((await control.instances()).map(({ instanceKey }) => instanceKey)).toEqual(['copy']);
    expect(await journal.has({ ...at, instanceKey: 'copy' })).toBe(true);
    const answer = await control.ask({ agent: 'a', instanceKey: 'copy', input: 'hi' });
    expect(textOf(answer.result.responseMessage)).toBe('a/copy: hi');
    expect(await rejectionOf(control.forkInstance({ ...toInstanceAddress(at), as: 'copy' }))).toMatchObject({
      code: 'E_INSTANCE_EXISTS',
    });
    await control.ask({ agent: 'a', instanceKey: 'copy', input: 'again' });
    expect(agents.started).toHaveLength(1);
  });

  test('is rejected for an unknown instance, an invalid key and a stopped swarm', async () => {
    const { control } = await open(echo);
    expect(await rejectionOf(control.forkInstance({ ...toInstanceAddress(at), as: 'copy' }))).toMatchObject({
      code: 'E_INSTANCE_UNKNOWN',
    });
    expect(await rejectionOf(control.forkInstance({ ...toInstanceAddress(at), as: 'x'.repeat(2000) }))).toMatchObject({
      code: 'E_INSTANCE_KEY',
    });
    expect(await control.instances()).toEqual([]);
    await control.stop();
    expect(await rejectionOf(control.forkInstance({ ...toInstanceAddress(at), as: 'copy' }))).toMatchObject({
      code: 'E_SWARM_STOPPED',
    });
  });
});

test('a stopping swarm rejects input with the reason', async () => {
  const { control, graces } = await open(echo, {}, [], Promise.resolve());
  await control.stop({ graceMs: 7 });
  await control.stop();
  expect(graces).toEqual([7, 1_000]);
  expect(await rejectionOf(control.deliver({ input: 'x' }))).toMatchObject({ code: 'E_SWARM_STOPPED' });
  expect(await rejectionOf(control.ask({ input: 'x' }))).toMatchObject({ code: 'E_SWARM_STOPPED' });
});

test('only a swarm for one input is handed over', async () => {
  const { control, deps, graces } = await open(echo);
  expect(await rejectionOf(control.stop({ handover: true }))).toMatchObject({ code: 'E_SWARM_RUNNING' });
  expect(await control.deliver({ input: 'x' })).toMatchObject({ accepted: true });
  const oneShot = localSwarm({ ...deps, describe: () => ({ ...deps.describe(), oneShot: true }) });
  await oneShot.stop({ handover: true });
  expect(graces).toEqual([1_000]);
});

describe('R-07 a stopping swarm rejects input when no process begins a turn by itself any more', () => {
  /** A swarm that stops while a process runs `one`, has `two`, and does not hear yet that `two` was taken back. */
  async function stopEarly() {
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const opened = await open(async ({ event }) => {
      begun.push(event.id);
      if (event.id === 'one') await gate.promise;
      return 'done';
    });
    const { agents, swarm, control } = opened;
    agents.beginsAhead = true;
    const heard = Promise.withResolvers<() => void>();
    agents.onTakeBack = heard.resolve;
    for (const id of ['one', 'two', 'three']) await control.deliver({ id });
    await until(() => begun.length === 1);
    await control.stop();
    const drained = swarm.drain(5_000, new AbortController().signal);
    let refused = false;
    const refusal = rejectionOf(control.deliver({ id: 'four' })).finally(() => (refused = true));
    const hear = await heard.promise;
    await Bun.sleep(20);
    expect(refused).toBe(false);
    return { ...opened, begun, hear, gate, refusal, drained };
  }

  test('the process returns the event, which waits for the next start', async () => {
    const { begun, hear, gate, refusal, drained, journal } = await stopEarly();
    hear();
    expect(await refusal).toMatchObject({ code: 'E_SWARM_STOPPED' });
    gate.resolve();
    await drained;
    expect(begun).toEqual(['one']);
    const pending = await journal.pending({ agentName: 'a', instanceKey: 'default' });
    expect(pending.map(({ id }) => id)).toEqual(['two', 'three']);
  });

  test('the process has exited without a word', async () => {
    const { agents, begun, refusal, drained } = await stopEarly();
    agents.children[0]?.exit({ signal: 'SIGKILL' });
    expect(await refusal).toMatchObject({ code: 'E_SWARM_STOPPED' });
    await drained;
    expect(begun).toEqual(['one']);
  });
});

describe('a watcher', () => {
  test('learns of forked, reset and deleted conversations when it is done', async () => {
    const { control, journal, swarm } = await open(echo);
    const at = { agentName: 'a', instanceKey: 'default' };
    await journal.recover(at);
    await journal.close(at);
    await swarm.wake();
    const told: [SwarmNotice, Promise<boolean>][] = [];
    await control.watch({ types: ['instance'] }, (notice) => {
      if (notice.type === 'instance') told.push([notice, journal.has(toAgentAddress(notice.at))]);
    });
    const elsewhere: SwarmNotice[] = [];
    await control.watch({ types: ['instance'], instanceKey: 'copy' }, (notice) => void elsewhere.push(notice));

    const copy = { ...at, instanceKey: 'copy' };
    await control.forkInstance({ ...toInstanceAddress(at), as: 'copy' });
    await control.restart({ agent: 'a', instanceKey: 'default', fresh: true });
    await control.deleteInstance(toInstanceAddress(copy));
    const heard = await Promise.all(told.map(async ([notice, isThere]) => [notice, await isThere] as const));
    expect(heard).toEqual([
      [{ type: 'instance', at: toInstanceAddress(copy), change: 'forked' }, true],
      [{ type: 'instance', at: toInstanceAddress(at), change: 'reset' }, true],
      [{ type: 'instance', at: toInstanceAddress(copy), change: 'deleted' }, false],
    ]);
    expect(elsewhere).toHaveLength(2);
    // A new process of the same instance keeps the conversation.
    await control.ask({ agent: 'a', input: 'hi' });
    await control.restart({ agent: 'a' });
    expect(told).toHaveLength(3);
  });
});
