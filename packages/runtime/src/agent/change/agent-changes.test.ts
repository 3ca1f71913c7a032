// Changes of a running agent: what a held part shows, when a change takes place, and who is cleaned up when.
import { describe, expect, test } from 'bun:test';
import { GoondanError, type ExtensionApi, type ExtensionRegister, type JsonObject } from '@goondan/types';
import { extension, manualClock, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { Model } from '../model/model-port.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { until } from '../../../../../test/until.ts';

/** Starts an agent, and returns a function that makes wanted plans for it. */
async function started(options: ScriptedAgentOptions = {}) {
  const agent = await scriptedAgent(options);
  const { models } = { models: agent.agent.parts.plan.openModel.entries };
  const {
    script: _,
    model: _model,
    store: _store,
    clock: _clock,
    approver: _approver,
    engine: _engine,
    ...plan
  } = options;
  const wanted = (changed: Partial<AgentPlan>): AgentPlan => ({
    agentName: 'tested',
    modelRef: 'Model/scripted',
    models,
    policy: agent.agent.parts.plan.policy,
    ...(plan as Partial<AgentPlan>),
    ...changed,
  });
  const prepare = (changed: Partial<AgentPlan>) => agent.agent.prepare(wanted(changed));
  const change = async (changed: Partial<AgentPlan>) => (await prepare(changed)).swap();
  return { agent, wanted, prepare, change };
}

/** A model that calls the tool `work__run` in each of the first steps, and then answers. */
const steps = (count: number): Model => ({
  async generate(request) {
    const { messages } = request;
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const done = since.filter(({ role }) => role === 'tool').length;
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    if (done < count) {
      const call = {
        type: 'tool-call',
        toolCallId: `call-${messages.length}`,
        toolName: 'work__run',
        input: {},
      } as const;
      return { content: [call], finishReason: 'tool-calls', usage };
    }
    for (const text of ['Do', 'ne.']) request.onDelta?.({ type: 'text', text });
    return { content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop', usage };
  },
});

/** A tool that waits in the step with this number until it is released. */
function gatedWork(step: number) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let calls = 0;
  const tool = {
    name: 'work',
    exports: [{ name: 'run', description: 'Works.' }],
    handlers: {
      async run() {
        if (calls++ !== step) return 'done';
        reached.resolve();
        await released.promise;
        return 'done';
      },
    },
  };
  return { tool, reached: reached.promise, release: () => released.resolve() };
}

/** Starts an agent with this many calls of its tool, and waits until its turn is in the first one. */
async function midTurn(calls: number, options: ScriptedAgentOptions = {}) {
  const { tool, reached, release } = gatedWork(0);
  const opened = await started({ model: steps(calls), tools: [tool], ...options });
  const turn = opened.agent.say('go');
  await reached;
  return { ...opened, tool, turn, release };
}

const idle = () => new Promise((resolve) => setImmediate(resolve));

/** An extension that notes its steps, its turns and its cleanup as `version …`. */
function noted(name: string, version: string, said: string[], more?: ExtensionRegister) {
  const register: ExtensionRegister = async (api, config, self) => {
    said.push(`${version} registers`);
    api.pipeline.register('turn', async (ctx) => {
      said.push(`${version} turn begins`);
      const result = await ctx.next();
      said.push(`${version} turn ends`);
      return result;
    });
    api.pipeline.register('step', (ctx) => {
      said.push(`${version} step ${ctx.stepIndex}`);
      return ctx.next();
    });
    await more?.(api, config, self);
    return () => void said.push(`${version} leaves`);
  };
  return extension(name, register);
}

describe('a change in the middle of a turn', () => {
  test('L-01 the next step has the new layers; the turn layer stays until the turn ends, and leaves only then', async () => {
    const said: string[] = [];
    const { agent, prepare, turn, release } = await midTurn(2, { extensions: [noted('a', 'old', said)] });
    const change = await prepare({ extensions: [noted('a', 'new', said)] });
    const swapped = change.swap();
    await idle();
    expect(agent.layers('step')).toEqual(['a/step']);
    expect(said).toEqual(['old registers', 'old turn begins', 'old step 0', 'new registers']);
    release();
    await swapped;
    await turn;
    await until(() => said.includes('old leaves'));
    expect(said.slice(4)).toEqual(['new step 1', 'new step 2', 'old turn ends', 'old leaves']);
    await agent.say('again');
    expect(said.slice(8)).toEqual(['new turn begins', 'new step 0', 'new step 1', 'new step 2', 'new turn ends']);
    await agent.close();
  });

  test('a part without a turn layer leaves while the turn goes on', async () => {
    const said: string[] = [];
    const { tool, reached, release } = gatedWork(0);
    const gone = gatedWork(1);
    const step = extension('a', (api) => {
      api.pipeline.register('step', (ctx) => ctx.next());
      return () => void said.push('left');
    });
    const tools = [{ ...tool, handlers: { run: async () => (await tool.handlers.run(), gone.tool.handlers.run()) } }];
    const { agent, prepare } = await started({ model: steps(2), tools, extensions: [step] });
    const turn = agent.say('go');
    await reached;
    const swapped = (await prepare({ extensions: [] })).swap();
    release();
    await swapped;
    await gone.reached;
    await until(() => said.length > 0);
    expect(said).toEqual(['left']);
    gone.release();
    expect((await turn).text).toBe('Done.');
  });

  test('L-01 an earlier turn that was given up does not swap a change inside a step of the running turn', async () => {
    const hung = Promise.withResolvers<void>();
    const { tool, reached, release } = gatedWork(1);
    let isFirst = true;
    const hangs = oneLayer('hangs', 'step', async (ctx) => {
      const result = await ctx.next();
      if (!isFirst) return result;
      isFirst = false;
      cancel.abort();
      await hung.promise;
      return result;
    });
    const cancel = new AbortController();
    const policy = { unwindMs: 1 };
    const { agent, prepare } = await started({ model: steps(1), tools: [tool], extensions: [hangs], policy });
    await agent.say('give up', { signal: cancel.signal });
    const turn = agent.say('go');
    await reached;
    const change = await prepare({ systemPrompt: 'New.' });
    const swapped = change.swap();
    hung.resolve();
    await idle();
    expect(agent.agent.parts.plan.systemPrompt).toBeUndefined();
    release();
    await Promise.all([turn, swapped]);
    expect(agent.requests.at(-1)?.messages[0]?.content).toBe('New.');
  });

  test('prompt, model, params, policy and the config of a tool count from the next step', async () => {
    const { tool, reached, release } = gatedWork(0);
    const seen: unknown[] = [];
    const handlers = {
      async run(ctx: { config: JsonObject }) {
        seen.push(ctx.config);
        return tool.handlers.run();
      },
    };
    const tools = (config: JsonObject) => [{ ...tool, handlers: handlers, config }];
    const { agent, prepare } = await started({ model: steps(3), tools: tools({ n: 1 }), systemPrompt: 'Old.' });
    const models = agent.agent.parts.plan.openModel.entries;
    const turn = agent.say('go');
    await reached;
    const change = await prepare({
      tools: tools({ n: 2 }),
      systemPrompt: 'New.',
      params: { temperature: 0.5 },
      models: { ...models, ...(models['Model/scripted'] && { 'Model/other': models['Model/scripted'] }) },
      modelRef: 'Model/other',
      policy: { maxStepsPerTurn: 3 },
    });
    void change.swap();
    release();
    const { result } = await turn;
    expect(agent.requests.map(({ messages, params }) => [messages[0]?.content, params])).toEqual([
      ['Old.', {}],
      ['New.', { temperature: 0.5 }],
      ['New.', { temperature: 0.5 }],
    ]);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 2 }]);
    expect(result.finishReason).toBe('max_steps');
    expect(agent.agent.parts.plan.modelRef).toBe('Model/other');
  });

  test.each([
    ['longer', 1_000, 5_000],
    ['shorter', 5_000, 1_000],
  ])('a %s time limit of turns counts from the next step, and from the start of the turn', async (_, old, wanted) => {
    const clock = manualClock();
    const gates = [1, 2].map(() => ({
      reached: Promise.withResolvers<void>(),
      released: Promise.withResolvers<void>(),
    }));
    const [first, second] = gates;
    let calls = 0;
    const tool = {
      name: 'work',
      exports: [{ name: 'run', description: 'Works.' }],
      handlers: {
        async run() {
          const gate = gates[calls++];
          gate?.reached.resolve();
          await gate?.released.promise;
          return 'done';
        },
      },
    };
    const limits = (turnTimeoutMs: number) => ({ turnTimeoutMs, toolTimeoutMs: 9_000, unwindMs: 0 });
    const { agent, prepare } = await started({ model: steps(2), tools: [tool], policy: limits(old), clock });
    const turn = agent.say('go');
    await first?.reached.promise;
    await clock.advance(900);
    const swapped = (await prepare({ policy: limits(wanted) })).swap();
    first?.released.resolve();
    await Promise.all([swapped, second?.reached.promise]);
    await clock.advance(wanted - 901);
    let isOver = false;
    void turn.then(() => (isOver = true));
    await idle();
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect((await turn).result.error?.message).toContain(`${wanted} ms`);
  });

  test('a higher limit of tokens counts from the next step', async () => {
    const { tool, reached, release } = gatedWork(0);
    const options = { model: steps(1), tools: [tool], policy: { maxTokensPerTurn: 2 } };
    const { agent, prepare } = await started(options);
    const turn = agent.say('go');
    await reached;
    void (await prepare({ policy: { maxTokensPerTurn: 100 } })).swap();
    release();
    expect((await turn).text).toBe('Done.');
  });

  test('a shorter time to unwind counts from the next step, also when the time limit is the same', async () => {
    const clock = manualClock();
    const { tool, reached, release } = gatedWork(0);
    const hangs = Promise.withResolvers<void>();
    const layer = oneLayer('hangs', 'step', (ctx) => {
      if (ctx.stepIndex === 0) return ctx.next();
      hangs.resolve();
      return new Promise(() => undefined);
    });
    const cancel = new AbortController();
    const policy = { turnTimeoutMs: 60_000, unwindMs: 5_000 };
    const { agent, prepare } = await started({ model: steps(1), tools: [tool], extensions: [layer], policy, clock });
    const turn = agent.say('go', { signal: cancel.signal });
    await reached;
    void (await prepare({ policy: { ...policy, unwindMs: 10 } })).swap();
    release();
    await hangs.promise;
    cancel.abort();
    await clock.advance(10);
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
  });

  test('the turn sees the new ctx.runtime and the new tools, and keeps its conversation', async () => {
    const views: unknown[] = [];
    const watch = beforeNext('watch', 'step', (ctx) =>
      views.push([ctx.runtime.agent.description, ctx.runtime.tools.map(({ name }) => name)]),
    );
    const { agent, prepare, turn, release, tool } = await midTurn(1, { extensions: [watch], description: 'Old.' });
    const more = { name: 'more', exports: [{ name: 'run', description: 'More.' }], handlers: { run: () => 1 } };
    void (await prepare({ description: 'New.', tools: [tool, more] })).swap();
    release();
    await turn;
    expect(views).toEqual([
      ['Old.', ['work__run']],
      ['New.', ['work__run', 'more__run']],
    ]);
    expect(agent.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  test('a buffering turn layer keeps its text back until the turn ends, also when a change removes it', async () => {
    const { tool, reached, release } = gatedWork(0);
    const buffers = oneLayer('redact', 'turn', (ctx) => ctx.next(), { buffers: true });
    const { agent, prepare } = await started({ model: steps(1), tools: [tool], extensions: [buffers] });
    const deltas: string[] = [];
    let isOver = false;
    const turn = agent.say('go', { onDelta: ({ type }) => void deltas.push(`${type} ${isOver ? 'after' : 'in'}`) });
    agent.agent.parts.bus.on(
      'step.completed',
      () => void (isOver = agent.told.filter(({ name }) => name === 'step.completed').length === 2),
    );
    await reached;
    void (await prepare({ extensions: [] })).swap();
    release();
    await turn;
    expect(deltas).toEqual(['text after']);
  });

  test('a new step layer that buffers holds the text of the next step back', async () => {
    const { tool, reached, release } = gatedWork(0);
    const { agent, prepare } = await started({ model: steps(1), tools: [tool] });
    const shout = oneLayer('shout', 'step', (ctx) => ctx.next(), { buffers: true });
    const deltas: string[] = [];
    const turn = agent.say('go', { onDelta: (delta) => void deltas.push('text' in delta ? delta.text : delta.type) });
    await reached;
    void (await prepare({ extensions: [shout] })).swap();
    release();
    await turn;
    // Streamed text arrives in pieces; buffered text arrives in one.
    expect(deltas).toEqual(['Done.']);
  });
});

describe('a held part', () => {
  test('is invisible: no layer, tool, handler, state, status or event', async () => {
    const heard: unknown[] = [];
    const listener = extension('listener', (api) => {
      api.events.on('hello', (value: unknown) => heard.push(value));
    });
    const handled: unknown[] = [];
    const added = extension('added', async (api) => {
      api.pipeline.register('step', (ctx) => ctx.next());
      api.tools.register({ name: 'added__run', description: 'New.' }, () => 1);
      api.events.on('ping', (value: unknown) => handled.push(value));
      expect(await api.state.get()).toEqual({ count: 1 });
      await api.state.set({ count: 2 });
      expect(await api.state.get()).toEqual({ count: 2 });
      api.events.emit('hello', 'from the held part');
      api.events.emit('extension.status', { state: 'connected', tools: ['added__run'] });
    });
    const { agent, prepare } = await started({ extensions: [listener] });
    const { parts } = agent.agent;
    parts.states.put('added', parts.states.check('added', { count: 1 }));
    const change = await prepare({ extensions: [listener, added] });
    parts.bus.emit('ping', 'before');
    expect(agent.layers('step')).toEqual([]);
    expect(parts.tools.items()).toEqual([]);
    expect([heard, handled, parts.statuses.all()]).toEqual([[], [], []]);
    expect(parts.states.snapshot()).toEqual({ added: { count: 1 } });
    expect(agent.agent.extensions).toEqual(['listener']);
    await change.swap();
    parts.bus.emit('ping', 'after');
    expect(agent.layers('step')).toEqual(['added/step']);
    expect(parts.tools.items().map(({ name }) => name)).toEqual(['added__run']);
    expect([heard, handled]).toEqual([['from the held part'], ['after']]);
    expect(parts.statuses.of('added')).toMatchObject({ state: 'connected', tools: ['added__run'] });
    expect(parts.states.snapshot()).toEqual({ added: { count: 2 } });
    await agent.close();
    expect(await agent.stateOf('added')).toEqual({ count: 2 });
  });

  test('that is dropped leaves nothing, and is cleaned up once', async () => {
    let cleanups = 0;
    const heard: unknown[] = [];
    const kept = extension('kept', (api) => {
      api.events.on('hello', (value: unknown) => heard.push(value));
      api.events.emit('extension.status', { state: 'connected' });
    });
    const held = extension('held', async (api) => {
      api.tools.register({ name: 'held__run', description: 'Held.' }, () => 1);
      await api.state.set('mine');
      api.events.emit('hello', 1);
      return () => {
        cleanups += 1;
        api.events.emit('hello', 2);
      };
    });
    const { agent, prepare } = await started({ extensions: [kept] });
    const { parts } = agent.agent;
    const changed = await prepare({ extensions: [kept, held], systemPrompt: 'New.' });
    await changed.drop();
    await changed.drop();
    expect(await changed.swap().catch((error: unknown) => error)).toMatchObject({ code: 'E_RELOAD_FAILED' });
    expect([cleanups, heard, parts.states.snapshot(), parts.tools.items()]).toEqual([1, [], {}, []]);
    expect(parts.statuses.of('kept')).toMatchObject({ state: 'connected' });
    expect(parts.plan.systemPrompt).toBeUndefined();
    await agent.close();
    expect(cleanups).toBe(1);
  });

  test('whose change fails has changed nothing: all nonces, states and layers are those of before', async () => {
    const nonces: object[] = [];
    const handlers = new Map<string, () => number>();
    const cleaned: string[] = [];
    const nonce = (name: string) =>
      extension(name, async (api) => {
        const own = {};
        nonces.push(own);
        handlers.set(name, () => nonces.indexOf(own));
        api.tools.register({ name: `${name}__nonce`, description: 'Its nonce.' }, handlers.get(name) ?? (() => -1));
        await api.state.set(name);
        return () => void cleaned.push(name);
      });
    const [a, b] = [nonce('a'), nonce('b')];
    const { agent, prepare } = await started({ extensions: [a, b] });
    const { tools, states } = agent.agent.parts;
    const before = [tools.items(), states.snapshot(), agent.agent.parts.plan] as const;
    const broken = extension('c', () => {
      throw new Error('No.');
    });
    const failed = prepare({ extensions: [b, nonce('d'), broken, a], systemPrompt: 'New.' });
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_INIT' });
    expect([tools.items(), states.snapshot(), agent.agent.parts.plan]).toEqual([...before]);
    expect(tools.get('a__nonce')?.handler).toBe(handlers.get('a'));
    expect(tools.get('b__nonce')?.handler).toBe(handlers.get('b'));
    expect(nonces).toHaveLength(3);
    await until(() => cleaned.length > 0);
    expect(cleaned).toEqual(['d']);
    // The next change is not affected.
    await (await prepare({ extensions: [b] })).swap();
    await until(() => cleaned.length === 2);
    expect(cleaned).toEqual(['d', 'a']);
  });

  test('whose change fails is not awaited: its hanging cleanup hides no error and stops no later change', async () => {
    const clock = manualClock();
    const said: string[] = [];
    const hanging = extension('hanging', () => () => new Promise<void>(() => undefined));
    const failing = extension('failing', () => {
      throw new Error('No.');
    });
    const { agent, prepare } = await started({ clock });
    for (const name of ['one', 'two']) {
      const left = extension(name, () => () => void said.push(name));
      const failed = prepare({ extensions: [hanging, left, failing] });
      expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_INIT' });
    }
    await (await prepare({ systemPrompt: 'New.' })).swap();
    expect(agent.agent.parts.plan.systemPrompt).toBe('New.');
    // The cleanups of the second change follow those of the first.
    await until(() => said.includes('one'));
    await idle();
    expect(said).toEqual(['one']);
    await clock.advance(5_000);
    await until(() => said.includes('two'));
  });

  test.each<[title: string, changed: Partial<AgentPlan>, code: string]>([
    [
      'a model that cannot be opened',
      { models: { m: { provider: 'nowhere', model: 'x' } }, modelRef: 'm' },
      'E_MODEL_UNKNOWN',
    ],
    [
      'a declared tool whose name a retained extension has registered',
      { tools: [{ name: 'own', exports: [{ name: 'run', description: 'x' }], handlers: { run: () => 1 } }] },
      'E_TOOL_TAKEN',
    ],
  ])('fails before the exchange for %s', async (_title, changed, code) => {
    const own = extension('own', (api) => api.tools.register({ name: 'own__run', description: 'Own.' }, () => 1));
    const { agent, prepare } = await started({ extensions: [own] });
    expect(await prepare(changed).catch((error: unknown) => error)).toMatchObject({ code });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('that never finishes registering is given up when its change is aborted, and cleaned up when it does', async () => {
    const gate = Promise.withResolvers<void>();
    const said: string[] = [];
    const slow = extension('slow', async (api) => {
      await gate.promise;
      await api.state.set('late');
      return () => void said.push('cleaned up');
    });
    const { agent, prepare, wanted } = await started();
    const abort = new AbortController();
    const preparing = agent.agent.prepare(wanted({ extensions: [slow] }), abort.signal);
    await idle();
    abort.abort(new GoondanError('E_RELOAD_FAILED', 'Too slow.'));
    expect(await preparing.catch((error: unknown) => error)).toMatchObject({ message: 'Too slow.' });
    await (await prepare({ systemPrompt: 'New.' })).swap();
    gate.resolve();
    await until(() => said.length > 0);
    expect(said).toEqual(['cleaned up']);
    expect(agent.agent.parts.states.snapshot()).toEqual({});
  });

  test('is not loaded when its change was dropped before, so that its failure ends nothing', async () => {
    const said: string[] = [];
    const failing = extension('failing', async () => {
      said.push('registers');
      throw new Error('No.');
    });
    const { agent, wanted, change } = await started();
    const given = AbortSignal.abort(new GoondanError('E_RELOAD_FAILED', 'Dropped.'));
    const dropped = agent.agent.prepare(wanted({ extensions: [failing] }), given);
    expect(await dropped.catch((error: unknown) => error)).toMatchObject({ message: 'Dropped.' });
    await change({ extensions: [extension('next', () => undefined)] });
    expect(said).toEqual([]);
  });

  test('that registers while another held part is cleaned up is cleaned up too', async () => {
    const [gate, cleaning, cleaned] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const said: string[] = [];
    const first = extension('first', () => async () => {
      cleaning?.resolve();
      await cleaned?.promise;
    });
    const slow = extension('slow', async () => {
      await gate?.promise;
      said.push('registered');
      return () => void said.push('cleaned up');
    });
    const { agent, wanted } = await started();
    const abort = new AbortController();
    const preparing = agent.agent.prepare(wanted({ extensions: [first, slow] }), abort.signal);
    await idle();
    abort.abort(new GoondanError('E_RELOAD_FAILED', 'Too slow.'));
    expect(await preparing.catch((error: unknown) => error)).toMatchObject({ message: 'Too slow.' });
    await cleaning?.promise;
    gate?.resolve();
    await until(() => said.length > 0);
    await idle();
    cleaned?.resolve();
    await until(() => said.length > 1);
    await idle();
    expect(said).toEqual(['registered', 'cleaned up']);
  });
});

const exclusive = { ...extension('one', () => undefined, { config: { port: 1 } }), exclusive: true } as const;

describe('a change between turns', () => {
  test('is in place at once', async () => {
    const said: string[] = [];
    const { agent, prepare } = await started({ extensions: [noted('a', 'old', said)], systemPrompt: 'Old.' });
    await agent.say('one');
    const change = await prepare({ extensions: [noted('a', 'new', said)], systemPrompt: 'New.' });
    void change.swap();
    expect(agent.agent.parts.plan.systemPrompt).toBe('New.');
    await agent.say('two');
    expect(said.filter((each) => each.includes('step'))).toEqual(['old step 0', 'new step 0']);
    expect(agent.requests.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['Old.', 'one'],
      ['New.', 'one', [{ type: 'text', text: 'You said: one' }], 'two'],
    ]);
  });

  test('waits for the end of a turn that has no further step', async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gate = beforeNext('gate', 'step', async () => {
      reached.resolve();
      await released.promise;
    });
    const { agent, prepare } = await started({ extensions: [gate] });
    const turn = agent.say('go');
    await reached.promise;
    const change = await prepare({ extensions: [gate], systemPrompt: 'New.' });
    const swapped = change.swap();
    await idle();
    expect(agent.agent.parts.plan.systemPrompt).toBeUndefined();
    released.resolve();
    await Promise.all([turn, swapped]);
    expect(agent.agent.parts.plan.systemPrompt).toBe('New.');
    expect(agent.requests.map(({ messages }) => messages.length)).toEqual([1]);
  });

  test('two changes before the end of a step: the newest is in place, and the parts between them are cleaned up', async () => {
    const said: string[] = [];
    const kept = noted('kept', 'kept', said);
    const { agent, prepare, turn, release } = await midTurn(1, { extensions: [noted('a', 'a1', said)] });
    const first = (await prepare({ extensions: [noted('a', 'a2', said), kept] })).swap();
    const second = (await prepare({ extensions: [kept, noted('a', 'a3', said)] })).swap();
    await until(() => said.includes('a2 leaves'));
    expect(agent.agent.extensions).toEqual(['a']);
    release();
    await Promise.all([turn, first, second]);
    await until(() => said.includes('a1 leaves'));
    expect(said.filter((each) => /registers|leaves|step 1/.test(each))).toEqual([
      'a1 registers',
      'a2 registers',
      'kept registers',
      'a3 registers',
      'a2 leaves',
      'kept step 1',
      'a3 step 1',
      'a1 leaves',
    ]);
    expect(agent.agent.extensions).toEqual(['kept', 'a']);
  });

  test.each<[reason: string, changed: Partial<AgentPlan>]>([
    ['its working folder has changed', { workdir: '/elsewhere' }],
    ['the recording of its turns was switched on or off', { policy: { trace: 'off' } }],
    ['Extension/one is exclusive and has changed', { extensions: [{ ...exclusive, config: { port: 2 } }] }],
  ])('that needs another process is refused: %s', async (reason, changed) => {
    const { agent, prepare } = await started({ extensions: [exclusive] });
    const refused = await prepare(changed).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_RELOAD_FAILED', message: expect.stringContaining(reason) });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('one change is prepared at a time', async () => {
    const { prepare } = await started();
    const change = await prepare({ systemPrompt: 'New.' });
    expect(await prepare({}).catch((error: unknown) => error)).toMatchObject({ code: 'E_RELOAD_FAILED' });
    await change.drop();
    await (await prepare({})).swap();
  });

  test('a model that is unchanged stays open, with its memory', async () => {
    const model = {
      provider: 'scripted',
      model: 's',
      options: { script: [{ say: 'First.' }] },
    };
    const { agent, prepare } = await started({ models: { 'Model/s': model }, modelRef: 'Model/s' });
    const open = agent.agent.parts.plan.openModel('Model/s');
    await (
      await prepare({ models: { 'Model/s': structuredClone(model) }, modelRef: 'Model/s', systemPrompt: 'x' })
    ).swap();
    expect(await agent.agent.parts.plan.openModel('Model/s')).toBe(await open);
    const other = { ...model, options: { script: [{ say: 'Other.' }] } };
    await (await prepare({ models: { 'Model/s': other }, modelRef: 'Model/s' })).swap();
    expect((await agent.say('x')).text).toBe('Other.');
  });
});

describe('a part that leaves', () => {
  test('hears and changes nothing after its cleanup: late calls are ignored, with one warning', async () => {
    let api: ExtensionApi | undefined;
    const heard: unknown[] = [];
    const old = extension('a', (given) => {
      api = given;
      given.events.on('ping', (value: unknown) => heard.push(value));
      given.events.emit('extension.status', { state: 'connected' });
    });
    const { agent, prepare } = await started({ extensions: [old] });
    const { parts } = agent.agent;
    await (await prepare({ extensions: [] })).swap();
    await idle();
    await api?.state.set('late');
    api?.tools.register({ name: 'late__run', description: 'Late.' }, () => 1);
    api?.events.on('ping', (value: unknown) => heard.push(value));
    api?.events.emit('extension.status', { state: 'failed' });
    parts.bus.emit('ping', 1);
    expect([heard, parts.states.snapshot(), parts.tools.items(), parts.statuses.all()]).toEqual([[], {}, [], []]);
    expect(agent.logs).toMatchObject([{ level: 'warn', event: 'extension.call_ignored', extension: 'a' }]);
  });

  test('its status does not replace the status of its successor', async () => {
    const status = (version: string) =>
      extension('a', (api) => {
        api.events.emit('extension.status', { state: 'connected', target: version });
        return () => api.events.emit('extension.status', { state: 'failed', target: version });
      });
    const { agent, prepare } = await started({ extensions: [status('old')] });
    await (await prepare({ extensions: [status('new')] })).swap();
    await idle();
    expect(agent.agent.parts.statuses.all()).toMatchObject([{ state: 'connected', target: 'new' }]);
  });

  test('its state does not replace the state of its successor, with one warning', async () => {
    const old = extension('a', (api) => {
      api.pipeline.register('turn', async (ctx) => {
        const result = await ctx.next();
        await api.state.set('old turn');
        return result;
      });
      return () => api.state.set('old cleanup');
    });
    const { agent, prepare, turn, release } = await midTurn(1, { extensions: [old] });
    const swapped = (await prepare({ extensions: [extension('a', (api) => api.state.set('new'))] })).swap();
    release();
    await Promise.all([turn, swapped]);
    await agent.close();
    expect(agent.agent.parts.states.snapshot()).toEqual({ a: 'new' });
    expect(agent.logs).toMatchObject([{ level: 'warn', event: 'extension.call_ignored', extension: 'a' }]);
  });

  test('it may set its state in its cleanup as long as no extension has its name', async () => {
    const old = extension('a', (api) => () => api.state.set('last'));
    const { agent, change } = await started({ extensions: [old] });
    await change({ extensions: [] });
    await until(() => agent.agent.parts.states.snapshot().a === 'last');
    expect(agent.logs).toEqual([]);
  });

  test('close cleans up held parts too, and gives up a change that is being prepared', async () => {
    const said: string[] = [];
    const { agent, prepare } = await started();
    await prepare({ extensions: [noted('held', 'held', said)] });
    await agent.close();
    expect(said).toEqual(['held registers', 'held leaves']);
    expect(await prepare({}).catch((error: unknown) => error)).toMatchObject({ code: 'E_AGENT_CLOSED' });
  });

  test('close gives up a change that is being prepared, and cleans up its parts once', async () => {
    const said: string[] = [];
    const begun = Promise.withResolvers<void>();
    const hangs = extension('hangs', () => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const { agent, prepare } = await started();
    const preparing = prepare({ extensions: [noted('held', 'held', said), hangs] });
    await begun.promise;
    const [closed, given] = await Promise.all([agent.close(), preparing.catch((error: unknown) => error)]);
    expect([closed, given]).toMatchObject([undefined, { code: 'E_AGENT_CLOSED' }]);
    expect(said).toEqual(['held registers', 'held leaves']);
  });
  test('close during a turn cleans up, once, the parts in place and those of a change that waits for the step', async () => {
    const said: string[] = [];
    const extensions = [noted('a', 'old', said)];
    const { agent, prepare, turn, release } = await midTurn(1, { extensions });
    void (await prepare({ extensions: [noted('a', 'new', said)] })).swap();
    await agent.agent.close(0, 0);
    const leaves = () => said.filter((each) => each.endsWith('leaves'));
    expect(leaves()).toEqual(['new leaves', 'old leaves']);
    release();
    await turn;
    await idle();
    expect(leaves()).toHaveLength(2);
  });

  test('close during a turn cleans up, once, a part that left and whose turn layer still runs', async () => {
    const said: string[] = [];
    const { tool, reached, release } = gatedWork(1);
    const first = gatedWork(0);
    const tools = [{ ...tool, handlers: { run: async () => (await first.tool.handlers.run(), tool.handlers.run()) } }];
    const { agent, prepare } = await started({ model: steps(2), tools, extensions: [noted('a', 'old', said)] });
    const turn = agent.say('go');
    await first.reached;
    void (await prepare({ extensions: [] })).swap();
    first.release();
    await reached;
    const leaves = () => said.filter((each) => each.endsWith('leaves'));
    expect(leaves()).toEqual([]);
    await agent.agent.close(0, 0);
    expect(leaves()).toEqual(['old leaves']);
    release();
    await turn;
    await idle();
    expect(leaves()).toHaveLength(1);
  });

  test('close waits for the cleanup of a part that left before', async () => {
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const slow = extension('slow', () => () => {
      begun.resolve();
      return done.promise;
    });
    const { agent, change } = await started({ extensions: [slow] });
    await change({ extensions: [] });
    await begun.promise;
    let isClosed = false;
    const closed = agent.close().then(() => (isClosed = true));
    for (let round = 0; round < 5; round++) await idle();
    expect(isClosed).toBe(false);
    done.resolve();
    await closed;
  });
});

describe('a change after another', () => {
  const lone = (version: string) => {
    const declared = extension('a', () => undefined);
    return { ...declared, exclusive: true as const, config: { version } };
  };
  const refused = { code: 'E_RELOAD_FAILED', message: expect.stringContaining('Extension/a is exclusive') };

  test('L-01 is compared with the newest plan: a part that the first change added cannot exist twice', async () => {
    const { change, prepare } = await started();
    await change({ extensions: [lone('1')] });
    expect(await prepare({ extensions: [lone('2')] }).catch((error: unknown) => error)).toMatchObject(refused);
  });

  test('L-01 so it is when the first change still waits for the end of its step', async () => {
    const { prepare, turn, release } = await midTurn(1);
    const swapped = (await prepare({ extensions: [lone('1')] })).swap();
    expect(await prepare({ extensions: [lone('2')] }).catch((error: unknown) => error)).toMatchObject(refused);
    release();
    await Promise.all([turn, swapped]);
  });

  test('L-01 a part in place that only the first change retains is cleaned up after the step, not before', async () => {
    const said: string[] = [];
    const kept = extension('kept', () => () => void said.push('kept leaves'));
    const { prepare, turn, release } = await midTurn(1, { extensions: [kept] });
    const first = (await prepare({ extensions: [kept], systemPrompt: 'First.' })).swap();
    const second = (await prepare({ extensions: [], systemPrompt: 'Second.' })).swap();
    for (let round = 0; round < 5; round++) await idle();
    expect(said).toEqual([]);
    release();
    await Promise.all([turn, first, second]);
    await until(() => said.length > 0);
    expect(said).toEqual(['kept leaves']);
  });

  test('its parts are cleaned up after those of the change before it', async () => {
    const said: string[] = [];
    const done = Promise.withResolvers<void>();
    const first = extension('a', () => async () => {
      await done.promise;
      said.push('first');
    });
    const second = extension('a', () => () => void said.push('second'));
    const { change } = await started({ extensions: [first] });
    await change({ extensions: [second] });
    await change({ extensions: [] });
    for (let round = 0; round < 5; round++) await idle();
    expect(said).toEqual([]);
    done.resolve();
    await until(() => said.length === 2);
    expect(said).toEqual(['first', 'second']);
  });

  test('an extension may register a tool whose name no declared tool has any more, at once or later', async () => {
    let api: ExtensionApi | undefined;
    const own = { name: 'own', exports: [{ name: 'run', description: 'x' }], handlers: { run: () => 1 } };
    const item = (name: string) => ({ name, description: 'Own.' });
    const takes = extension('takes', (given) => given.tools.register(item('own__run'), () => 2));
    const later = extension('later', (given) => void (api = given));
    const { agent, change } = await started({ tools: [own] });
    await change({ tools: [own], extensions: [later] });
    expect(() => api?.tools.register(item('own__run'), () => 3)).toThrow('a declared tool has that name');
    await change({ tools: [], extensions: [later] });
    api?.tools.register(item('own__run'), () => 3);
    expect(agent.agent.parts.tools.get('own__run')?.extension).toBe('later');
    await change({ tools: [own], extensions: [] });
    await change({ tools: [], extensions: [takes] });
    expect(agent.agent.parts.tools.get('own__run')?.extension).toBe('takes');
  });

  test('a dropped change cannot be swapped, and a swapped one cannot be dropped', async () => {
    const said: string[] = [];
    const { agent, prepare } = await started();
    const dropped = await prepare({ extensions: [noted('a', 'first', said)] });
    await dropped.drop();
    expect(await dropped.swap().catch((error: unknown) => error)).toMatchObject({ code: 'E_RELOAD_FAILED' });
    expect(agent.agent.extensions).toEqual([]);
    const swapped = await prepare({ extensions: [noted('a', 'second', said)] });
    await swapped.swap();
    await swapped.drop();
    await idle();
    expect(said).toEqual(['first registers', 'first leaves', 'second registers']);
    expect(agent.agent.extensions).toEqual(['a']);
  });
});

test('a part in place reads the state that it set last, not the one that it set while it was held', async () => {
  let api: ExtensionApi | undefined;
  const part = extension('a', async (given) => {
    api = given;
    await given.state.set({ count: 1 });
  });
  const { change } = await started();
  await change({ extensions: [part] });
  expect(await api?.state.get()).toEqual({ count: 1 });
  await api?.state.set({ count: 2 });
  expect(await api?.state.get()).toEqual({ count: 2 });
});

test('the events of a held part are bounded: those above the limit are ignored, with one warning', async () => {
  const heard: unknown[] = [];
  const listener = extension('listener', (api) => {
    api.events.on('hello', (value: unknown) => heard.push(value));
  });
  const loud = extension('loud', (api) => {
    for (let each = 0; each < 1_002; each++) api.events.emit('hello', each);
  });
  const { agent, change } = await started({ extensions: [listener] });
  await change({ extensions: [listener, loud] });
  expect([heard.length, heard.at(-1)]).toEqual([1_000, 999]);
  expect(agent.logs).toMatchObject([{ level: 'warn', event: 'extension.call_ignored', extension: 'loud' }]);
});

test('the events of a held part are heard with the new plan in force', async () => {
  const heard: unknown[] = [];
  const listener = extension('listener', (api) => {
    api.events.on('hello', () => heard.push(opened.agent.agent.parts.plan.systemPrompt));
  });
  const greets = extension('greets', (api) => api.events.emit('hello'));
  const opened = await started({ extensions: [listener], systemPrompt: 'Old.' });
  await opened.change({ extensions: [listener, greets], systemPrompt: 'New.' });
  expect(heard).toEqual(['New.']);
});

test('secrets of the old and of the new plan stay masked', async () => {
  const [old, fresh] = ['old-secret-0123456789', 'new-secret-0123456789'];
  const { agent, prepare } = await started({ secrets: [old], script: [{ say: `${old} {{input}} ${fresh}` }] });
  await agent.say(fresh);
  await (await prepare({ secrets: [fresh] })).swap();
  const { text, deltas } = await agent.say('x');
  expect(text).toBe('*** x ***');
  expect(JSON.stringify(deltas)).not.toContain('secret');
  // The message that was stored before the change is masked when a model gets it.
  expect(JSON.stringify(agent.requests.at(-1)?.messages)).not.toContain('secret');
});

test('X-09 of two tools with one name the later registration counts, also of a changed extension and of a late one', async () => {
  const late: Record<string, () => void> = {};
  const offering = (name: string, version: string) =>
    extension(name, ({ tools }) => {
      const offer = (description: string) => tools.register({ name: 'shared__tool', description }, () => description);
      offer(version);
      late[name] = () => offer(`${version}, late`);
    });
  const [a1, b1] = [offering('a', 'a1'), offering('b', 'b1')];
  const [a2, b2] = [offering('a', 'a2'), offering('b', 'b2')];
  const { agent, change } = await started({ extensions: [a1, b1] });
  const offered = () => agent.agent.parts.tools.items().map(({ description }) => description);
  expect(offered()).toEqual(['b1']);
  late['a']?.();
  expect(offered()).toEqual(['a1, late']);
  await change({ extensions: [a1, b2] });
  expect(offered()).toEqual(['b2']);
  // A new order of the extensions registers nothing again.
  await change({ extensions: [b2, a1] });
  expect(offered()).toEqual(['b2']);
  await change({ extensions: [a2, b2] });
  expect(offered()).toEqual(['a2']);
  late['b']?.();
  expect(offered()).toEqual(['b2, late']);
  await change({ extensions: [a2] });
  expect(offered()).toEqual(['a2']);
  await agent.close();
});

test('C-08 a layer with an unknown field in its result is named again after a change of the layers', async () => {
  const odd = oneLayer('odd', 'turn', async (ctx) => Object.assign(await ctx.next(), { odd: 1 }));
  const { agent, change } = await started({ extensions: [odd] });
  const warned = () => agent.logs.map(({ event, extension: name }) => [event, name]);
  for (const text of ['one', 'two']) await agent.say(text);
  expect(warned()).toEqual([['middleware.unknown_field', 'odd']]);
  await change({ extensions: [odd, extension('other', () => undefined)] });
  await agent.say('three');
  expect(warned()).toEqual([
    ['middleware.unknown_field', 'odd'],
    ['middleware.unknown_field', 'odd'],
  ]);
  await agent.close();
});
