import { describe, expect, test } from 'bun:test';
import { GoondanError, type JsonObject } from '@goondan/types';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { SwarmNotice } from '../../control/swarm.ts';
import { systemClock } from '../../ports/clock.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { type FakeAnswer, noParts } from '../../testing/fake-agents.ts';
import { fakeEvent, type FakeSwarm } from '../../testing/fake-swarm.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { Connections } from '../connections/connections.ts';
import { applyPlan } from './apply-plan.ts';
import { swarmReloader } from './reload-swarm.ts';
import type { Trials } from './try-changes.ts';
import { until } from '../../../../../test/until.ts';

const { openSwarm } = closeAfterEach();

async function open(answer: FakeAnswer = async ({ event }) => event.input ?? '') {
  const opened = await openSwarm(answer);
  const replaced: string[][] = [];
  // This fakes only the method of the connections that is used here. connections.test.ts tests the rest.
  const connections = {
    replace: (_plans, changed) => void replaced.push([...changed]),
  } as Pick<Connections, 'replace'> as Connections;
  const trials: Trials = { agent: async () => noParts, connection: async () => undefined };
  const parts = { currentPlan: opened.currentPlan, swarm: opened.swarm, connections, trials, clock: systemClock };
  return { ...opened, parts, replaced, plan: opened.currentPlan.value.plan };
}

/** Returns the plan with a change to each of these agents. */
function changing({ plan }: { plan: SwarmPlan }, ...names: string[]): SwarmPlan {
  const agents = plan.agents.map((agent) =>
    names.includes(agent.agentName) ? { ...agent, systemPrompt: crypto.randomUUID() } : agent,
  );
  return { ...plan, agents };
}

/** Returns the plan with a change to each of these agents that needs another process. */
function replacing({ plan }: { plan: SwarmPlan }, ...names: string[]): SwarmPlan {
  const agents = plan.agents.map((agent) =>
    names.includes(agent.agentName) ? { ...agent, environment: { CHANGED: crypto.randomUUID() } } : agent,
  );
  return { ...plan, agents };
}

function without({ plan }: { plan: SwarmPlan }, name: string): SwarmPlan {
  return { ...plan, agents: plan.agents.filter(({ agentName }) => agentName !== name) };
}

const startsOf = ({ agents }: FakeSwarm, name: string) => agents.started.filter(({ at }) => at.agentName === name);
describe('a new plan', () => {
  test('L-01 replaces the processes of agents whose change needs it, and of no others', async () => {
    const opened = await open();
    for (const name of ['a', 'b', 'c']) await opened.send(name, 'hello');
    const changes = await applyPlan(opened.parts, replacing(opened, 'b'));
    expect(changes).toMatchObject({ changed: ['Agent/b'], added: [], removed: [] });
    expect(changes.agents).toEqual([{ agent: 'b', parts: [], replaced: 'its environment has changed', finishing: [] }]);
    expect(opened.agents.changes).toEqual([]);
    expect(changes.kept).toEqual(['Agent/a', 'Agent/c', 'Agent/d', 'Agent/e', 'Swarm/test']);
    for (const name of ['a', 'b', 'c']) await opened.send(name, 'again');
    expect(['a', 'b', 'c'].map((name) => startsOf(opened, name).length)).toEqual([1, 2, 1]);
  });

  test('L-01 in another order restarts nothing', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    const { plan } = opened;
    const changes = await applyPlan(opened.parts, { ...plan, entryAgent: 'a', agents: plan.agents.toReversed() });
    expect(changes).toMatchObject({ changed: ['Swarm/test'], fields: ['entryAgent'] });
    await opened.send('a', 'again');
    expect(startsOf(opened, 'a')).toHaveLength(1);
  });

  test('L-01 with another entry agent changes the connections that reach it, and no others', async () => {
    const opened = await open();
    const about = { connector: 'web', root: '/', entry: 'web.ts', config: {}, secrets: {} };
    const connections = [
      { ...about, connection: 'entry', rules: [{ route: {} }] },
      { ...about, connection: 'named', rules: [{ route: { agentRef: 'Agent/b' } }] },
    ];
    await applyPlan(opened.parts, { ...opened.plan, entryAgent: 'a', connections });
    await applyPlan(opened.parts, { ...opened.plan, entryAgent: 'b', connections });
    expect(opened.replaced).toEqual([[], ['entry']]);
  });

  test('L-02 names the extensions whose kept connections end', async () => {
    const opened = await open();
    const keeping = (config: JsonObject) => {
      const [metadata, spec] = [{ name: 'files' }, { entry: './mcp.ts', config }];
      const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension' as const, metadata, spec };
      const extensions = [{ resource, root: '/base', keeper: { entry: './keep.ts' } }];
      const agents = opened.plan.agents.map((each) => (each.agentName === 'a' ? { ...each, extensions } : each));
      return { ...opened.plan, agents };
    };
    const attach = { mode: 'stateful' };
    await applyPlan(opened.parts, keeping({ attach }));
    const { agents } = await applyPlan(opened.parts, keeping({ attach, trust: 'any' }));
    expect(agents[0]).not.toHaveProperty('ended');
    const changes = await applyPlan(opened.parts, keeping({ attach, expose: { tools: false } }));
    expect(changes.agents).toMatchObject([{ agent: 'a', ended: ['files'] }]);
  });

  test('a running turn is finished by its process, waiting input goes to the next', async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await open(async ({ event, child }) => {
      if (event.input === 'slow') await gate.promise;
      return String(child.pid);
    });
    const slow = opened.send('a', 'slow');
    await until(() => opened.swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.running !== undefined);
    const { agents } = await applyPlan(opened.parts, replacing(opened, 'a'));
    expect(agents).toMatchObject([{ agent: 'a', finishing: ['default'] }]);
    // A later change finds the process asked to end, so the process does not take it in place.
    const { environment } = opened.currentPlan.value.agents.get('a') ?? {};
    const later = opened.plan.agents.map((each) =>
      each.agentName === 'a'
        ? { ...each, ...(environment === undefined ? {} : { environment }), systemPrompt: 'later' }
        : each,
    );
    const further = await applyPlan(opened.parts, { ...opened.plan, agents: later });
    expect(further.agents).toMatchObject([{ agent: 'a', leaving: ['default'], finishing: ['default'] }]);
    const next = opened.send('a', 'next');
    await Bun.sleep(20);
    expect(startsOf(opened, 'a')).toHaveLength(1);
    gate.resolve();
    const [first, second] = startsOf(opened, 'a').map(({ child }) => String(child.pid));
    expect([textOf(await slow), second]).toEqual([first, undefined]);
    expect(textOf(await next)).not.toBe(first);
  });

  test('three reloads during one turn keep the place of the waiting input', async () => {
    const gates = { slow: Promise.withResolvers<void>(), other: Promise.withResolvers<void>() };
    const opened = await open(async ({ event }) => {
      if (event.input === 'slow' || event.input === 'other') await gates[event.input].promise;
      return event.input ?? '';
    });
    const policy = { ...opened.plan.policy, maxProcesses: 1 };
    await applyPlan(opened.parts, { ...opened.plan, policy });
    const slow = opened.send('a', 'slow');
    await until(() => startsOf(opened, 'a').length === 1);
    const asked = [opened.send('b', 'other'), opened.send('a', 'next')];
    await until(() => opened.swarm.instances.waiting === 1);
    for (let reload = 0; reload < 3; reload++) {
      await applyPlan(opened.parts, { ...replacing(opened, 'a'), policy });
    }
    gates.slow.resolve();
    expect(textOf(await slow)).toBe('slow');
    // The only slot is in use, so the next input of `a` is queued when the waiting reloads continue.
    await until(() => startsOf(opened, 'b').length === 1);
    await Bun.sleep(20);
    gates.other.resolve();
    expect((await Promise.all(asked)).map(textOf)).toEqual(['other', 'next']);
  });

  test('the swarm’s settings for turns are part of every agent', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    const policy = { ...opened.plan.policy, maxStepsPerTurn: 3 };
    const changes = await applyPlan(opened.parts, { ...opened.plan, policy });
    expect(changes.changed).toContain('Agent/a');
    expect(changes.agents.find(({ agent }) => agent === 'a')?.parts).toEqual([{ identity: 'Policy', fate: 'updated' }]);
    await opened.send('a', 'again');
    expect(startsOf(opened, 'a')).toHaveLength(1);
    expect(opened.agents.changes).toMatchObject([{ at: { agentName: 'a' }, type: 'change.swap' }]);
  });

  test('a changed limit of the swarm takes effect at once', async () => {
    const opened = await open();
    await applyPlan(opened.parts, { ...opened.plan, policy: { ...opened.plan.policy, maxProcesses: 1 } });
    await opened.send('a', 'hello');
    await opened.send('b', 'hello');
    const awake = [...opened.swarm.instances.all()].filter(({ hasProcess }) => hasProcess);
    expect(awake.map(({ address }) => address.agentName)).toEqual(['b']);
  });

  test('a removed agent accepts nothing; its pending input stays, and is handled when the agent is back', async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await open(async ({ event }) => {
      if (event.input === 'slow') await gate.promise;
      return event.input ?? '';
    });
    const slow = opened.send('a', 'slow');
    await until(() => opened.swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.running !== undefined);
    const waits = fakeEvent('waits');
    await opened.swarm.accept({ agentName: 'a', instanceKey: 'default' }, waits, false);
    expect((await applyPlan(opened.parts, without(opened, 'a'))).agents).toEqual([
      { agent: 'a', parts: [], removed: true, finishing: ['default'] },
    ]);
    expect(opened.swarm.agents).toEqual(['b', 'c', 'd', 'e']);
    expect(await rejectionOf(opened.send('a', 'new'))).toMatchObject({ code: 'E_AGENT_UNKNOWN' });
    gate.resolve();
    expect(textOf(await slow)).toBe('slow');
    await until(() => opened.swarm.instances.find({ agentName: 'a', instanceKey: 'default' })?.hasProcess === false);
    await Bun.sleep(20);
    expect(startsOf(opened, 'a')).toHaveLength(1);

    const { end } = opened.swarm.waiters.wait({ agentName: 'a', instanceKey: 'default' }, waits.id);
    await applyPlan(opened.parts, opened.plan);
    expect(textOf(await end)).toBe('waits');
    expect(startsOf(opened, 'a')).toHaveLength(2);
  });

  test('input accepted for a missing agent is handled when the agent is added', async () => {
    const opened = await open();
    const event = fakeEvent('from before');
    const at = { agentName: 'f', instanceKey: 'default' };
    await opened.journal.accept(at, event);
    const { end } = opened.swarm.waiters.wait(at, event.id);
    const [model] = opened.plan.agents;
    const agents = [...opened.plan.agents, { ...model, agentName: 'f', models: model?.models ?? {} }];
    expect(await applyPlan(opened.parts, { ...opened.plan, agents })).toMatchObject({ added: ['Agent/f'] });
    expect(textOf(await end)).toBe('from before');
  });

  test('a caller that waits for a removed agent gets an error', async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await open(async ({ at, call }) => {
      if (at.agentName === 'b') return gate.promise.then(() => 'done');
      const outcome = await call('request', { agentName: 'b' });
      return outcome.status === 'failed' ? `${outcome.error.code}: ${outcome.error.message}` : outcome.status;
    });
    const busy = opened.send('b', 'first');
    const asked = opened.send('a', 'ask b');
    const queueOfB = () => opened.swarm.instances.find({ agentName: 'b', instanceKey: 'default' })?.state.queue.length;
    await until(() => queueOfB() === 2);
    await applyPlan(opened.parts, without(opened, 'b'));
    gate.resolve();
    expect(textOf(await busy)).toBe('done');
    expect(textOf(await asked)).toMatch(/^E_AGENT_FAILED: .*Agent "b" was removed from the swarm/);
  });

  test('every process gets the list of agents, and only when it has changed', async () => {
    const opened = await open();
    const told: unknown[] = [];
    await opened.send('a', 'hello');
    startsOf(opened, 'a')[0]?.child.channel.onMessage((message) => void told.push(message));
    await applyPlan(opened.parts, changing(opened, 'b'));
    await applyPlan(opened.parts, without(opened, 'e'));
    await opened.send('a', 'again');
    const changed = told.filter((message) => (message as { type: string }).type === 'agents.changed');
    const agents = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
    expect(changed).toEqual([{ type: 'agents.changed', agents, connections: [] }]);
  });

  test('a running process is told at once about another mayAsk, and keeps running', async () => {
    const opened = await open();
    await opened.send('a', 'hello');
    const told: unknown[] = [];
    startsOf(opened, 'a')[0]?.child.channel.onMessage((message) => void told.push(message));
    const agents = opened.plan.agents.map((agent) => (agent.agentName === 'a' ? { ...agent, mayAsk: ['b'] } : agent));
    expect((await applyPlan(opened.parts, { ...opened.plan, agents })).changed).toEqual(['Agent/a']);
    await opened.send('a', 'again');
    expect(told).toContainEqual({ type: 'agents.changed', agents: [{ name: 'b' }], connections: [] });
    expect(startsOf(opened, 'a')).toHaveLength(1);
  });

  test('every process gets the connections that lead to its agent when they have changed', async () => {
    const opened = await open();
    const told: unknown[] = [];
    await opened.send('a', 'hello');
    startsOf(opened, 'a')[0]?.child.channel.onMessage((message) => void told.push(message));
    const about = { connector: 'web', root: '/', entry: 'web.ts', config: {}, secrets: { key: 'a-secret' } };
    const connections = [
      { ...about, connection: 'entry', rules: [{ route: {} }] },
      { ...about, connection: 'other', rules: [{ route: { agentRef: 'Agent/b' } }] },
      { ...about, connection: 'both', rules: [{ route: { agentRef: 'Agent/b' } }, { route: { agentRef: 'Agent/a' } }] },
    ];
    await applyPlan(opened.parts, { ...opened.plan, connections });
    await applyPlan(opened.parts, { ...changing(opened, 'c'), connections });
    await opened.send('a', 'again');
    const changed = told.filter((message) => (message as { type: string }).type === 'agents.changed');
    const agents = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
    const cards = ['entry', 'both'].map((name) => ({ name, connector: 'web' }));
    expect(changed).toEqual([{ type: 'agents.changed', agents, connections: cards }]);
  });
});

describe('a reload', () => {
  test('L-05 of an unchanged plan lets instances that do not start try again, and names them', async () => {
    const opened = await open();
    const error = { code: 'E_EXT_INIT', message: 'Extension/x throws.' } as const;
    opened.agents.onStart = (child) => void child.channel.send({ type: 'start.failed', error });
    const at = { agentName: 'a', instanceKey: 'default' };
    const event = fakeEvent('hello');
    await opened.swarm.accept(at, event, false);
    await until(() => opened.swarm.instances.find(at)?.status === 'does not start');
    await opened.send('b', 'hello').catch(() => undefined);
    opened.agents.onStart = undefined;
    const { end } = opened.swarm.waiters.wait(at, event.id);
    const { retried, changed } = await swarmReloader(opened.parts, async () => opened.plan).reload();
    expect({ retried, changed }).toEqual({
      retried: ['a', 'b'].map((agent) => ({ agent, instanceKey: 'default' })),
      changed: [],
    });
    expect(textOf(await end)).toBe('hello');
    expect(await swarmReloader(opened.parts, async () => opened.plan).reload()).not.toHaveProperty('retried');
  });

  test.each([
    ['E_ENV_MISSING', /environment of its start.*`\.env`/],
    ['E_SWARM_UNKNOWN', /cannot change its name: name it "test" again/],
  ] as const)('L-05 that reads %s says what holds for a running swarm', async (code, suggestion) => {
    const opened = await open();
    const reloader = swarmReloader(opened.parts, () => Promise.reject(new GoondanError(code, 'Missing.')));
    expect(await rejectionOf(reloader.reload())).toMatchObject({
      code,
      message: 'Missing.',
      suggestion: expect.stringMatching(suggestion),
    });
  });

  test('L-05 with parts that do not start changes nothing, and resolves after they were tried', async () => {
    const opened = await open();
    await opened.send('b', 'hello');
    const before = opened.currentPlan.value;
    const tried: string[] = [];
    const trials: Trials = {
      agent: async ({ agentName }) => {
        tried.push(agentName);
        expect(opened.currentPlan.value).toBe(before);
        if (agentName === 'b') throw new GoondanError('E_EXT_INIT', 'Extension/x throws.');
        return noParts;
      },
      connection: async () => undefined,
    };
    const reloader = swarmReloader({ ...opened.parts, trials }, async () => changing(opened, 'b'));
    expect(await rejectionOf(reloader.reload())).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: 'Agent/b does not start with the changed bundle. E_EXT_INIT: Extension/x throws.',
    });
    await opened.send('b', 'again');
    expect({ tried, starts: startsOf(opened, 'b').length }).toEqual({ tried: ['b'], starts: 1 });
    expect(opened.currentPlan.value).toBe(before);
  });

  test('is an event with code and reason when it is rejected or fails, also for watchers', async () => {
    const opened = await open();
    const trials: Trials = { ...opened.parts.trials, agent: async () => Promise.reject(new Error('no')) };
    const notices: SwarmNotice[] = [];
    opened.swarm.watchers.add({ types: ['log'] }, (notice) => {
      if (notice.type === 'log' && notice.line.level === 'error') notices.push(notice);
    });
    const plans = [{ ...opened.plan, agents: [] }, { ...opened.plan, name: 'other' }, changing(opened, 'a')];
    for (const plan of plans) {
      await rejectionOf(swarmReloader({ ...opened.parts, trials }, async () => plan).reload());
    }
    await rejectionOf(swarmReloader(opened.parts, () => Promise.reject(new Error('unreadable'))).reload());
    await rejectionOf(swarmReloader(opened.parts, undefined).reload());
    const told = notices.map((notice) => (notice.type === 'log' ? notice.line : undefined));
    expect(told).toEqual(opened.lines.filter(({ level }) => level === 'error'));
    expect(told.map((line) => line?.event)).toEqual(Array.from({ length: 5 }, () => 'swarm.reload_refused'));
    expect(told[0]?.message).toContain('E_SWARM_PLAN: The swarm cannot be started: it has no agent');
    expect(told.map((line) => line?.data)).toEqual([
      { code: 'E_SWARM_PLAN', reason: expect.stringContaining('no agent') },
      { code: 'E_RELOAD_SWARM', reason: expect.stringContaining('"other"') },
      { code: 'E_RELOAD_FAILED', reason: 'Agent/a does not start with the changed bundle. Error: no' },
      { code: 'E_UNEXPECTED', reason: 'unreadable' },
      { code: 'E_RELOAD_SOURCE', reason: expect.any(String) },
    ]);
  });

  test('changes nothing when the swarm ends with the last trial, even a successful one', async () => {
    const opened = await open();
    const before = opened.currentPlan.value;
    let end = (): unknown => undefined;
    const agent = async () => {
      end();
      return noParts;
    };
    const trials: Trials = { ...opened.parts.trials, agent };
    const reloader = swarmReloader({ ...opened.parts, trials }, async () => changing(opened, 'b'));
    end = () => void reloader.close();
    expect(await rejectionOf(reloader.reload())).toMatchObject({ code: 'E_SWARM_STOPPED' });
    expect(opened.currentPlan.value).toBe(before);
  });

  test('is given up when the swarm ends, while it reads or tries', async () => {
    const opened = await open();
    const reading = Promise.withResolvers<SwarmPlan>();
    const whileReading = swarmReloader(opened.parts, () => reading.promise);
    const read = rejectionOf(whileReading.reload());
    await whileReading.close();
    expect(await read).toMatchObject({ code: 'E_SWARM_STOPPED' });

    const begun = Promise.withResolvers<void>();
    const trials: Trials = {
      ...opened.parts.trials,
      agent: (_agent, _plan, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('ended')));
          begun.resolve();
        }),
    };
    const whileTrying = swarmReloader({ ...opened.parts, trials }, async () => changing(opened, 'a'));
    const tried = rejectionOf(whileTrying.reload());
    await begun.promise;
    await whileTrying.close();
    expect(await tried).toMatchObject({ code: 'E_SWARM_STOPPED' });
    expect(opened.currentPlan.value.plan).toBe(opened.plan);
  });

  test('waits for the one before it, whatever its result', async () => {
    const opened = await open();
    const order: string[] = [];
    const plans = [() => Promise.reject(new Error('no')), () => Promise.resolve(changing(opened, 'a'))];
    const reloader = swarmReloader(opened.parts, async () => {
      const next = plans.shift();
      order.push(`begins, ${plans.length} left`);
      await Bun.sleep(5);
      order.push('read');
      return next?.() ?? opened.plan;
    });
    const [first, second] = await Promise.allSettled([reloader.reload(), reloader.reload()]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
    expect(order).toEqual(['begins, 1 left', 'read', 'begins, 0 left', 'read']);
    expect(opened.lines.at(-1)?.message).toBe('Reloaded: changed Agent/a; 5 kept.');
  });
});

function textOf({ result }: Awaited<ReturnType<FakeSwarm['send']>>): unknown {
  const content = result.responseMessage?.data.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}
