// Tests the change of running processes, with agents without processes.
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { systemClock } from '../../ports/clock.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { type FakeAnswer, noParts } from '../../testing/fake-agents.ts';
import { fakeEvent, type FakeSwarm, type FakeSwarmOptions } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { MOST_CHANGES } from '../changes/change-round.ts';
import type { Connections } from '../connections/connections.ts';
import { swarmReloader } from './reload-swarm.ts';
import type { Trials } from './try-changes.ts';
import { until } from '../../../../../test/until.ts';

type Prepare = Extract<ToAgent, { type: 'change.prepare' }>;
type Child = FakeSwarm['agents']['children'][number];

const { cleanups, openSwarm } = closeAfterEach();

async function open(answer: FakeAnswer = async ({ event }) => event.input ?? '', options: FakeSwarmOptions = {}) {
  const opened = await openSwarm(answer, options);
  const { agents, swarm, currentPlan } = opened;
  // This fakes only the method of the connections that is used here.
  const connections = { replace: () => undefined } as Pick<Connections, 'replace'> as Connections;
  /** The agents that were tried, with the names of their tools. */
  const tried: string[] = [];
  const trials: Trials = {
    agent: async ({ agentName, tools = [] }) => {
      tried.push([agentName, ...tools.map(({ name }) => name)].join(' '));
      return noParts;
    },
    connection: async () => undefined,
  };
  const { plan } = currentPlan.value;
  let wanted = plan;
  const reloader = swarmReloader({ currentPlan, swarm, connections, trials, clock: systemClock }, async () => wanted);
  cleanups.push(() => reloader.close());

  /** The processes that were asked to prepare and have not answered. */
  const asked: { readonly at: AgentAddress; readonly child: Child; readonly message: Prepare }[] = [];
  return {
    ...opened,
    reloader,
    asked,
    tried,
    /** Lets processes wait for `ready` and the other functions of the test when they are asked to prepare. */
    hold() {
      agents.onChange = (child, message) => {
        const at = agents.started.find((each) => each.child === child)?.at ?? { agentName: '?', instanceKey: '?' };
        asked.push({ at, child, message });
      };
    },
    ready({ child, message: { change } }: (typeof asked)[number]) {
      return child.channel.send({ type: 'change.ready', change });
    },
    reload(next: SwarmPlan) {
      wanted = next;
      return reloader.reload();
    },
    withPrompt: (systemPrompt: string, ...names: string[]): SwarmPlan => ({
      ...plan,
      agents: plan.agents.map((agent) => (names.includes(agent.agentName) ? { ...agent, systemPrompt } : agent)),
    }),
    withTools: (...names: string[]): SwarmPlan => ({
      ...plan,
      agents: plan.agents.map((agent) => ({
        ...agent,
        tools: names.map((name) => ({ name, exports: [], root: '/', entry: './tool.ts' })),
      })),
    }),
    promptsOf: (agentName: string) =>
      agents.started.filter(({ at }) => at.agentName === agentName).map(({ start }) => start.agent.systemPrompt),
    told: () => agents.changes.map(({ at, type }) => `${at.agentName}/${at.instanceKey} ${type}`),
    find: (agentName: string, instanceKey = 'default') => swarm.instances.find({ agentName, instanceKey }),
  };
}

describe('a change in place', () => {
  test('L-01 reaches every process of the agent, replaces none, and sleeping conversations start with it', async () => {
    const opened = await open();
    for (const instanceKey of ['one', 'two']) await opened.send('a', 'hello', { instanceKey });
    await opened.send('b', 'hello');
    const plans: unknown[] = [];
    opened.agents.onChange = (child, message) => {
      plans.push(message.plan.systemPrompt);
      void child.channel.send({ type: 'change.ready', change: message.change });
    };
    const result = await opened.reload(opened.withPrompt('new', 'a'));
    expect(result).toMatchObject({ changed: ['Agent/a'], added: [], removed: [] });
    expect(result.agents).toEqual([{ agent: 'a', parts: [{ identity: 'Prompt', fate: 'added' }], finishing: [] }]);
    await until(() => opened.told().length === 2);
    expect(opened.told().toSorted()).toEqual(['a/one change.swap', 'a/two change.swap']);
    expect(plans).toEqual(['new', 'new']);
    for (const instanceKey of ['one', 'two', 'three']) await opened.send('a', 'again', { instanceKey });
    expect(opened.promptsOf('a')).toEqual([undefined, undefined, 'new']);
    expect(opened.promptsOf('b')).toHaveLength(1);
  });

  test('is tried with all parts of an agent that has no process to check them together', async () => {
    const opened = await open();
    await opened.send('b', 'hello');
    await opened.reload(opened.withTools('kept'));
    opened.tried.splice(0);
    await opened.reload(opened.withTools('kept', 'new'));
    expect(opened.tried.filter((each) => /^[ab] /.test(each))).toEqual(['a kept new', 'b new']);
  });

  test('so it is when the agent has a conversation whose process does not start', async () => {
    const opened = await open();
    const error = { code: 'E_EXT_INIT', message: 'no' } as const;
    opened.agents.onStart = (child) => void child.channel.send({ type: 'start.failed', error });
    await opened.swarm.accept({ agentName: 'a', instanceKey: 'default' }, fakeEvent('hello'), false);
    const doesNotStart = () => opened.find('a')?.status === 'does not start';
    await until(doesNotStart);
    await opened.reload(opened.withTools('kept'));
    await until(doesNotStart);
    opened.tried.splice(0);
    await opened.reload(opened.withTools('kept', 'new'));
    expect(opened.tried.filter((each) => each.startsWith('a '))).toEqual(['a kept new']);
  });

  test('L-05 the list of changes and refusals is bounded, newest first', async () => {
    const opened = await open();
    for (let number = 1; number <= 12; number += 1) {
      await rejectionOf(opened.reload({ ...opened.currentPlan.value.plan, name: `other ${number}` }));
    }
    expect(opened.reloader.reports).toHaveLength(10);
    expect(opened.reloader.reports[0]?.message).toContain('other 12');
  });

  test('L-02 ends the keepers that the plan does not have any more, also of an agent without a process', async () => {
    const retained: unknown[] = [];
    const opened = await open(undefined, {
      keepers: {
        attach: (_at, agent) => agent,
        settle: () => undefined,
        retain: () => void retained.push(opened.currentPlan.value.agents.get('a')?.systemPrompt),
      },
    });
    await opened.reload(opened.withPrompt('new', 'a'));
    expect(retained).toEqual(['new']);
  });

  test('forgives a process that it changes in place its earlier crashes', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    opened.agents.started[0]?.child.exit({ code: 1 });
    await until(() => opened.find('a')?.hasProcess === false);
    await opened.send('a', 'again');
    expect(opened.find('a')?.state.restarts.crashes).toBe(1);
    await opened.reload(opened.withPrompt('new', 'a'));
    expect(opened.find('a')?.state.restarts.crashes).toBe(0);
    expect(opened.agents.started).toHaveLength(2);
  });

  test('L-05 is an event with its parts, and is listed with the refused ones', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    await opened.reload(opened.withPrompt('new', 'a'));
    const line = opened.lines.findLast(({ event }) => event === 'swarm.reloaded');
    const agents = [{ agent: 'a', parts: [{ identity: 'Prompt', fate: 'added' }], finishing: [] }];
    expect(line?.data).toMatchObject({ changed: ['Agent/a'], agents });
    await opened.reload(opened.withPrompt('new', 'a'));
    expect(await rejectionOf(opened.reload({ ...opened.withPrompt('new', 'a'), agents: [] }))).toMatchObject({
      code: 'E_SWARM_PLAN',
    });
    // A reload without a change is not listed.
    expect(opened.reloader.reports).toMatchObject([
      { error: { code: 'E_SWARM_PLAN' }, message: expect.stringContaining('Nothing was changed.') },
      { agents, message: 'Reloaded: changed Agent/a; 5 kept.' },
    ]);
  });

  test('takes effect nowhere when one process fails: all others drop it, and the error has the place', async () => {
    const opened = await open();
    for (const instanceKey of ['one', 'two', 'three']) await opened.send('a', 'hello', { instanceKey });
    opened.hold();
    const before = opened.currentPlan.value;
    const reload = rejectionOf(opened.reload(opened.withPrompt('new', 'a')));
    await until(() => opened.asked.length === 3);
    const [one, two] = ['one', 'two'].map((key) => opened.asked.find(({ at }) => at.instanceKey === key));
    if (one === undefined || two === undefined) throw new Error('no process was asked');
    await opened.ready(one);
    const place = { file: 'guard.ts', line: 3, column: 1 };
    const error = { code: 'E_EXT_INIT', message: 'Extension/guard throws.', place } as const;
    await two.child.channel.send({ type: 'change.failed', change: two.message.change, error });
    expect(await reload).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: 'Agent/a cannot take the change in conversation "two". E_EXT_INIT: Extension/guard throws.',
      place,
    });
    await until(() => opened.told().length === 3);
    expect(opened.told().toSorted()).toEqual(['a/one change.drop', 'a/three change.drop', 'a/two change.drop']);
    expect(opened.currentPlan.value).toBe(before);
    expect(opened.lines.at(-1)).toMatchObject({
      event: 'swarm.reload_refused',
      data: { code: 'E_RELOAD_FAILED', place },
    });
    await opened.send('a', 'hello', { instanceKey: 'four' });
    expect(opened.promptsOf('a')).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('fails when a process is not ready in time, and ignores its late answer', async () => {
    const opened = await open(undefined, { policy: { startTimeoutMs: 60 } });
    await opened.send('a', 'hello');
    opened.hold();
    expect(await rejectionOf(opened.reload(opened.withPrompt('new', 'a')))).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: expect.stringContaining('was not ready for the change within 60 ms'),
    });
    const second = rejectionOf(opened.reload(opened.withPrompt('newer', 'a')));
    await until(() => opened.asked.length === 2);
    const [late] = opened.asked;
    if (late !== undefined) await opened.ready(late);
    expect(await second).toMatchObject({ code: 'E_RELOAD_FAILED' });
    await until(() => opened.told().length === 2);
    expect(opened.told()).toEqual(['a/default change.drop', 'a/default change.drop']);
  });

  test('fails when a process cannot be asked: the others drop it, and sleeping conversations start again', async () => {
    const keepers = {
      attach: ({ instanceKey }: AgentAddress, agent: DeclaredAgent) => {
        if (instanceKey === 'two' && agent.systemPrompt === 'new') throw new Error('no room for a socket');
        return agent;
      },
      retain: () => undefined,
      settle: () => undefined,
    };
    const opened = await open(undefined, { keepers });
    for (const instanceKey of ['one', 'two', 'three']) await opened.send('a', 'hello', { instanceKey });
    expect(await rejectionOf(opened.reload(opened.withPrompt('new', 'a')))).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: expect.stringContaining('in conversation "two". E_PROCESS_START: no room for a socket'),
    });
    await until(() => opened.told().length === 3);
    expect(opened.told()).not.toContain('a/one change.swap');
    await opened.send('a', 'hello', { instanceKey: 'four' });
    expect(opened.promptsOf('a')).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('fails when a process ends by itself', async () => {
    const opened = await open();
    for (const instanceKey of ['one', 'two']) await opened.send('a', 'hello', { instanceKey });
    opened.hold();
    const reload = rejectionOf(opened.reload(opened.withPrompt('new', 'a')));
    await until(() => opened.asked.length === 2);
    const { child } = opened.asked.find(({ at }) => at.instanceKey === 'one') ?? {};
    const place = { file: 'guard.ts', line: 3, column: 1 };
    const time = new Date(0).toISOString();
    const line = { time, level: 'error', event: 'process.uncaught', message: 'Uncaught error: no', place } as const;
    await child?.channel.send({ type: 'log', line });
    child?.exit({ code: 1 });
    expect(await reload).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: expect.stringContaining('ended while it prepared the change. Uncaught error: no'),
      place,
    });
    await until(() => opened.told().length === 1);
    expect(opened.told()).toEqual(['a/two change.drop']);
  });

  test('L-01 does not wait for a process that is asked to end; its conversation starts again with the new plan', async () => {
    const opened = await open();
    for (const instanceKey of ['one', 'two']) await opened.send('a', 'hello', { instanceKey });
    opened.hold();
    const reload = opened.reload(opened.withPrompt('new', 'a'));
    await until(() => opened.asked.length === 2);
    const address = { agentName: 'a', instanceKey: 'one' };
    await opened.swarm.instances.whileAsleep(address, { graceMs: 1_000 }, async () => undefined);
    const input = opened.send('a', 'again', { instanceKey: 'one' });
    await until(() => opened.swarm.instances.waiting === 1);
    const two = opened.asked.find(({ at }) => at.instanceKey === 'two');
    if (two !== undefined) await opened.ready(two);
    await reload;
    await input;
    expect(opened.told()).toEqual(['a/two change.swap']);
    expect(opened.promptsOf('a')).toEqual([undefined, undefined, 'new']);
  });

  test('holds back the starts of its agents until it is decided, and no other start', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    opened.hold();
    const reload = rejectionOf(opened.reload(opened.withPrompt('new', 'a')));
    await until(() => opened.asked.length === 1);
    const waits = opened.send('a', 'hello', { instanceKey: 'other' });
    await opened.send('b', 'hello');
    expect(opened.promptsOf('a')).toHaveLength(1);
    const [asked] = opened.asked;
    const error = { code: 'E_EXT_INIT', message: 'no' } as const;
    await asked?.child.channel.send({ type: 'change.failed', change: asked.message.change, error });
    expect(await reload).toMatchObject({ code: 'E_RELOAD_FAILED' });
    await waits;
    expect(opened.promptsOf('a')).toEqual([undefined, undefined]);
  });

  test('returns while a turn runs, and names the conversation that still finishes its step', async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await open(async ({ event }) => {
      if (event.input === 'slow') await gate.promise;
      return event.input ?? '';
    });
    await opened.send('a', 'hello', { instanceKey: 'idle' });
    const slow = opened.send('a', 'slow', { instanceKey: 'busy' });
    await until(() => opened.find('a', 'busy')?.running !== undefined);
    const { agents } = await opened.reload(opened.withPrompt('new', 'a'));
    expect(agents[0]?.finishing).toEqual(['busy']);
    await until(() => opened.told().length === 2);
    gate.resolve();
    await slow;
    expect(opened.promptsOf('a')).toEqual([undefined, undefined]);
  });

  test('reaches a process that is starting', async () => {
    const opened = await open();
    opened.agents.onStart = () => undefined;
    const input = opened.send('a', 'hello');
    await until(() => opened.agents.started.length === 1);
    opened.hold();
    const reload = opened.reload(opened.withPrompt('new', 'a'));
    await until(() => opened.asked.length === 1);
    expect(opened.find('a')?.status).toBe('starting');
    const [asked] = opened.asked;
    await asked?.child.channel.send({ type: 'ready', extensions: [], layers: [], tools: [] });
    if (asked !== undefined) await opened.ready(asked);
    await reload;
    await input;
    await until(() => opened.told().length > 0);
    expect(opened.told()).toEqual(['a/default change.swap']);
    expect(opened.agents.started).toHaveLength(1);
  });

  test('ends with the swarm: every process drops it', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    opened.hold();
    const before = opened.currentPlan.value;
    const reload = rejectionOf(opened.reload(opened.withPrompt('new', 'a')));
    await until(() => opened.asked.length === 1);
    await opened.reloader.close();
    expect(await reload).toMatchObject({ code: 'E_SWARM_STOPPED' });
    await until(() => opened.told().length === 1);
    expect(opened.told()).toEqual(['a/default change.drop']);
    expect(opened.currentPlan.value).toBe(before);
  });

  test('replaces a process that has had the most changes, refused ones included', async () => {
    const opened = await open();
    for (const instanceKey of ['old', 'crashed']) await opened.send('a', 'hello', { instanceKey });
    opened.agents.onChange = (child, { change }) => {
      const error = { code: 'E_EXT_INIT', message: 'no' } as const;
      void child.channel.send(
        change % 2 === 0 ? { type: 'change.ready', change } : { type: 'change.failed', change, error },
      );
    };
    for (let change = 1; change <= MOST_CHANGES; change += 1) {
      await opened.reload(opened.withPrompt(`prompt ${change}`, 'a')).catch(() => undefined);
    }
    expect(opened.promptsOf('a')).toEqual([undefined, undefined]);
    // A process that takes the place of a crashed one has had no changes.
    opened.agents.onChange = undefined;
    opened.agents.started.find(({ at }) => at.instanceKey === 'crashed')?.child.exit({ code: 1 });
    await until(() => opened.find('a', 'crashed')?.hasProcess === false);
    await opened.send('a', 'again', { instanceKey: 'crashed' });
    const { agents } = await opened.reload(opened.withPrompt('last', 'a'));
    expect(agents).toMatchObject([{ agent: 'a', renewed: ['old'], finishing: [] }]);
    await opened.send('a', 'again', { instanceKey: 'old' });
    expect(opened.promptsOf('a').slice(2)).toEqual([`prompt ${MOST_CHANGES}`, 'last']);
    expect((await opened.reload(opened.withPrompt('more', 'a'))).agents[0]).not.toHaveProperty('renewed');
  });

  test('L-02 gives a process its keepers with the change, and releases those of another plan when the process has swapped or dropped', async () => {
    const settled: string[] = [];
    const opened = await open(undefined, {
      keepers: {
        attach: (_at, agent) => ({ ...agent, description: `${agent.systemPrompt} with keepers` }),
        settle: ({ instanceKey }) => void settled.push(instanceKey),
        retain: () => undefined,
      },
    });
    await opened.send('a', 'hello');
    opened.hold();
    /** Reloads, and lets the process answer. A swap is answered only by `swapped`. */
    const answer = async (type: 'change.ready' | 'change.failed') => {
      const count = opened.asked.length;
      const reload = opened.reload(opened.withPrompt(`prompt ${count}`, 'a')).catch(() => undefined);
      await until(() => opened.asked.length > count);
      const asked = opened.asked[count];
      const error = { code: 'E_EXT_INIT', message: 'no' } as const;
      const change = asked?.message.change ?? 0;
      await asked?.child.channel.send(type === 'change.ready' ? { type, change } : { type, change, error });
      await reload;
      return asked;
    };
    const first = await answer('change.failed');
    expect(first?.message.plan.description).toBe('prompt 0 with keepers');
    expect(settled).toEqual(['default']);
    opened.agents.isSlow = true;
    const second = await answer('change.ready');
    await answer('change.failed');
    // The process still runs the plan before the second change, until it has swapped.
    expect(settled).toEqual(['default']);
    await second?.child.channel.send({ type: 'change.swapped', change: second.message.change });
    await until(() => settled.length === 2);
  });

  test('masks the secrets of the old and of the new plan in the output of a changed process', async () => {
    const opened = await open(undefined, { secrets: ['old-secret-value'] });
    await opened.send('a', 'hello');
    const { agents } = opened.currentPlan.value.plan;
    const secrets = ['new-secret-value'];
    const wanted = agents.map((agent) =>
      agent.agentName === 'a' ? { ...agent, secrets, systemPrompt: 'new' } : agent,
    );
    await opened.reload({ ...opened.currentPlan.value.plan, agents: wanted });
    const text = 'old-secret-value and new-secret-value';
    opened.agents.started[0]?.child.request.onOutput?.({ kind: 'line', stream: 'stdout', text });
    const line = opened.lines.at(-1)?.message;
    expect(line).toContain(' and ');
    expect(line).not.toContain('secret-value');
  });

  test('masks a new secret while a process prepares the change, and after the change was refused', async () => {
    const opened = await open(undefined, { secrets: ['old-secret-value'] });
    await opened.send('a', 'hello');
    opened.hold();
    const { plan } = opened.currentPlan.value;
    const secrets = ['new-secret-value'];
    const agents = plan.agents.map((agent) => (agent.agentName === 'a' ? { ...agent, secrets } : agent));
    const reload = rejectionOf(opened.reload({ ...plan, agents }));
    await until(() => opened.asked.length === 1);
    const [asked] = opened.asked;
    const text = 'old-secret-value and new-secret-value';
    const print = () => asked?.child.request.onOutput?.({ kind: 'line', stream: 'stdout', text });
    print();
    expect(opened.lines.at(-1)?.message).toBe('*** and ***');
    const error = { code: 'E_EXT_INIT', message: text } as const;
    await asked?.child.channel.send({ type: 'change.failed', change: asked.message.change, error });
    expect(String(await reload)).toContain('E_EXT_INIT: *** and ***');
    expect(opened.reloader.reports[0]?.message).not.toContain('secret-value');
    print();
    expect(opened.lines.at(-1)?.message).toBe('*** and ***');
  });

  test('a process that starts after the change masks the secrets of earlier plans', async () => {
    const opened = await open(undefined, { secrets: ['old-secret-value'] });
    const { plan } = opened.currentPlan.value;
    const agents = plan.agents.map((agent) => ({ ...agent, secrets: ['new-secret-value'] }));
    await opened.reload({ ...plan, agents });
    await opened.send('a', 'hello');
    const { start } = opened.agents.started[0] ?? {};
    expect([start?.agent.secrets, start?.masked]).toEqual([['new-secret-value'], ['old-secret-value']]);
  });

  test('another heartbeat counts for running processes, too', async () => {
    const clock = manualClock();
    const opened = await open(undefined, { clock, policy: { heartbeat: { everyMs: 1_000 } } });
    await opened.send('a', 'hello');
    const pings: number[] = [];
    opened.agents.started[0]?.child.channel.onMessage(
      (message) => void (message.type === 'ping' && pings.push(message.n)),
    );
    const { plan } = opened.currentPlan.value;
    await opened.reload({ ...plan, policy: { ...plan.policy, heartbeat: { everyMs: 100 } } });
    // The first ping is due by the old policy.
    for (let tenths = 0; tenths < 15; tenths += 1) await clock.advance(100);
    expect(pings).toHaveLength(6);
  });

  test('lets an agent that does not start try again', async () => {
    const opened = await open();
    const error = { code: 'E_EXT_INIT', message: 'no' } as const;
    opened.agents.onStart = (child) => void child.channel.send({ type: 'start.failed', error });
    const event = fakeEvent('hello');
    const at = { agentName: 'a', instanceKey: 'default' };
    await opened.swarm.accept(at, event, false);
    await until(() => opened.find('a')?.status === 'does not start');
    opened.agents.onStart = undefined;
    const { end } = opened.swarm.waiters.wait(at, event.id);
    await opened.reload(opened.withPrompt('new', 'a'));
    expect(await end).toMatchObject({ result: { finishReason: 'text_response' } });
    expect(opened.promptsOf('a')).toEqual([undefined, 'new']);
  });
});
