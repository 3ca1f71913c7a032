/**
 * P-19: for every caller, there is only one code path to a model, to a tool, to another agent and to a person.
 * Sentinels are test layers of every kind that are outermost and innermost. The model and the handlers report every
 * call that reaches them without passing a sentinel.
 */
import { describe, expect, test } from 'bun:test';
import {
  type ApprovalOutcome,
  createAssistantMessage,
  type ExtensionRegister,
  type MiddlewareKind,
  type ToolHandler,
} from '@goondan/types';
import { readRepository } from '../../../../../test/read-repository.ts';
import { systemClock } from '../../ports/clock.ts';
import {
  type Answer,
  extension,
  extensionFile,
  fakeApprover,
  inProcessEngine,
  scriptedAgent,
  type ScriptedAgentOptions,
} from '../../testing/index.ts';
import { beforeNext, layerOf } from '../../testing/one-layer.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type Engine, noEngine } from '../seams/engine.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { ConversationStore, TurnRecord } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import { openScriptedModel } from '../model/scripted/open-scripted-model.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

interface Watched {
  /** The chains that the outermost sentinel saw begin, each as `kind name`. */
  readonly seen: string[];
  /** Chains that only one of the two sentinels saw. */
  readonly escaped: string[];
  readonly sentinels: NonNullable<ScriptedAgentOptions['extensions']>;
  readonly modelCalls: () => number;
  readonly handlerRuns: readonly string[];
  model(script: NonNullable<ScriptedAgentOptions['script']>): Model;
  tool(name: string, options?: { parallel?: boolean; idempotent?: boolean; handler?: ToolHandler }): ToolDeclaration;
  handler(inner?: ToolHandler): ToolHandler;
}

function watch(): Watched {
  const seen: string[] = [];
  const escaped: string[] = [];
  const handlerRuns: string[] = [];
  let modelCalls = 0;
  const inside = { outer: [] as string[], inner: [] as string[] };

  const sentinel = (tier: 'swarm' | 'hook', place: 'outer' | 'inner') => {
    const pass = async <Result>(what: string, next: () => Promise<Result>): Promise<Result> => {
      if (place === 'outer') seen.push(what);
      inside[place].push(what);
      try {
        return await next();
      } finally {
        inside[place].splice(inside[place].indexOf(what), 1);
      }
    };
    const register: ExtensionRegister = ({ pipeline }) => {
      pipeline.register('turn', (ctx) => pass(`turn ${ctx.agentName}`, () => ctx.next()));
      pipeline.register('step', (ctx) => pass(`step ${ctx.stepIndex}`, () => ctx.next()));
      pipeline.register('toolCall', (ctx) => pass(`toolCall ${ctx.toolName}`, () => ctx.next()));
      pipeline.register('model', (ctx) => pass(`model ${ctx.extension ?? 'step'}`, () => ctx.next()));
    };
    return extension(`sentinel-${place}`, register, { tier });
  };
  const check = (kind: MiddlewareKind, what: string) => {
    const isSeen = (place: 'outer' | 'inner') => inside[place].some((each) => each.startsWith(what));
    if (!isSeen('outer') || !isSeen('inner')) escaped.push(`${kind} ${what}`);
  };
  const handler =
    (inner: ToolHandler = () => 'done'): ToolHandler =>
    (ctx, input) => {
      handlerRuns.push(ctx.toolCallId);
      check('toolCall', 'toolCall ');
      return inner(ctx, input);
    };

  return {
    seen,
    escaped,
    handlerRuns,
    modelCalls: () => modelCalls,
    sentinels: [sentinel('swarm', 'outer'), sentinel('hook', 'inner')],
    handler,
    model(script) {
      const scripted = openScriptedModel({ script: [...script] }, systemClock);
      return {
        generate(request) {
          modelCalls++;
          check('model', 'model ');
          return scripted.generate(request);
        },
      };
    },
    tool: (name, { handler: inner, ...flags } = {}) => ({
      name,
      exports: [{ name: 'run', description: '', ...flags }],
      handlers: { run: handler(inner) },
    }),
  };
}

/** Returns the names of the chains of one kind that a sentinel saw. */
const of = (kind: MiddlewareKind, seen: readonly string[]) =>
  seen.filter((what) => what.startsWith(`${kind} `)).map((what) => what.slice(kind.length + 1));

const ask = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

describe('every model call passes the sentinels', () => {
  test('P-19 from steps and retried steps', async () => {
    const watched = watch();
    const script = [
      { when: 'go', call: { tool: 'declared__run' } },
      { fail: { message: 'busy', retryable: true, times: 2 } },
      { say: 'done' },
    ];
    const agent = await scriptedAgent({
      model: watched.model(script),
      tools: [watched.tool('declared')],
      extensions: watched.sentinels,
    });
    expect((await agent.say('go')).text).toBe('done');
    expect(of('model', watched.seen)).toEqual(['step', 'step', 'step', 'step']);
    expect(of('step', watched.seen)).toEqual(['0', '1', '2', '3']);
    expect(watched.modelCalls()).toBe(4);
    expect(watched.escaped).toEqual([]);
  });

  test.each(['swarm', 'agent', 'hook'] as const)(
    'P-19 from ctx.model.generate in turn and step layers, before and after next(), from the %s tier',
    async (tier) => {
      const watched = watch();
      const register: ExtensionRegister = ({ pipeline }) => {
        pipeline.register('turn', async (ctx) => {
          await ctx.model.generate(ask('one'));
          const result = await ctx.next();
          await ctx.model.generate(ask('two'));
          return result;
        });
        pipeline.register('step', async (ctx) => {
          await ctx.model.generate(ask('three'));
          const result = await ctx.next();
          await ctx.model.generate(ask('four'));
          return result;
        });
      };
      // One extension is outside the outer sentinel, and one is inside the inner sentinel, each in the tier of this
      // test.
      const asking = (name: string) => extension(name, register, { tier });
      const extensions = [asking('asking'), ...watched.sentinels, asking('asking-too')];
      const agent = await scriptedAgent({ model: watched.model([{ say: 'ok' }]), extensions });
      await agent.say('hi');
      expect(watched.modelCalls()).toBe(9);
      expect(of('model', watched.seen).toSorted()).toEqual([
        ...Array<string>(4).fill('asking'),
        ...Array<string>(4).fill('asking-too'),
        'step',
      ]);
      expect(watched.escaped).toEqual([]);
    },
  );
});

describe('every tool call passes the sentinels', () => {
  test('P-19 to a declared tool, an extension’s tool, and a tool registered while the turn runs', async () => {
    const watched = watch();
    const offering = extension('offering', (api) => {
      const late = () => api.tools.register({ name: 'late__run', description: '' }, watched.handler());
      api.tools.register({ name: 'early__run', description: '' }, watched.handler(late));
    });
    const script = [
      { when: 'go', call: { tool: 'declared__run' } },
      { afterTool: 'declared__run', call: { tool: 'early__run' } },
      { afterTool: 'early__run', call: { tool: 'late__run' } },
      { say: 'done' },
    ];
    const agent = await scriptedAgent({
      model: watched.model(script),
      tools: [watched.tool('declared')],
      extensions: [...watched.sentinels, offering],
    });
    expect((await agent.say('go')).text).toBe('done');
    expect(of('toolCall', watched.seen)).toEqual(['declared__run', 'early__run', 'late__run']);
    expect(watched.handlerRuns).toHaveLength(3);
    expect(watched.escaped).toEqual([]);
  });

  test('P-19 parallel, unknown, not offered, or with wrong arguments', async () => {
    const watched = watch();
    const strict: ToolDeclaration = {
      name: 'strict',
      exports: [{ name: 'run', description: '', parameters: { type: 'object', required: ['city'] } }],
      handlers: { run: watched.handler() },
    };
    const hiding = beforeNext('hiding', 'step', (ctx) => {
      ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => name !== 'hidden__run');
    });
    const names = ['one__run', 'hidden__run', 'two__run', 'nowhere__run', 'strict__run', 'one__run'];
    const agent = await scriptedAgent({
      model: watched.model([{ when: 'go', calls: names.map((tool) => ({ tool })) }, { say: 'done' }]),
      tools: [
        watched.tool('one', { parallel: true }),
        watched.tool('two', { parallel: true }),
        watched.tool('hidden'),
        strict,
      ],
      extensions: [...watched.sentinels, hiding],
    });
    await agent.say('go');
    expect(of('toolCall', watched.seen).toSorted()).toEqual(names.toSorted());
    expect(watched.handlerRuns).toHaveLength(3);
    expect(watched.escaped).toEqual([]);
  });

  test('P-19 from ctx.tools.call in turn and step layers, before and after next()', async () => {
    const watched = watch();
    const calling = extension('calling', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        await ctx.tools.call('declared__run');
        const result = await ctx.next();
        await ctx.tools.call('declared__run', { after: true });
        return result;
      });
      pipeline.register('step', async (ctx) => {
        await ctx.tools.call('nowhere__run');
        const result = await ctx.next();
        await ctx.tools.call('declared__run');
        return result;
      });
    });
    const agent = await scriptedAgent({
      model: watched.model([{ say: 'done' }]),
      tools: [watched.tool('declared')],
      extensions: [calling, ...watched.sentinels],
    });
    await agent.say('hi');
    expect(of('toolCall', watched.seen)).toEqual(['declared__run', 'nowhere__run', 'declared__run', 'declared__run']);
    expect(watched.handlerRuns).toHaveLength(3);
    expect(new Set(watched.handlerRuns).size).toBe(3);
    expect(watched.escaped).toEqual([]);
  });
});

describe('every tool call inside a tool call passes the sentinels', () => {
  test.each(['swarm', 'agent', 'hook'] as const)(
    'P-19 from ctx.tools.call in toolCall layers, before and after next(), from the %s tier',
    async (tier) => {
      const watched = watch();
      const calling = (name: string) =>
        extension(
          name,
          layerOf('toolCall', async (ctx) => {
            if (ctx.callers.length > 0) return ctx.next();
            await ctx.tools.call('inner__run');
            const result = await ctx.next();
            await ctx.tools.call('nowhere__run');
            await ctx.tools.call('inner__run');
            return result;
          }),
          { tier },
        );
      const agent = await scriptedAgent({
        model: watched.model([{ when: 'go', call: { tool: 'declared__run' } }, { say: 'done' }]),
        tools: [watched.tool('declared'), watched.tool('inner')],
        extensions: [calling('calling'), ...watched.sentinels, calling('calling-too')],
      });
      expect((await agent.say('go')).text).toBe('done');
      const inner = Array<string>(4).fill('inner__run');
      expect(of('toolCall', watched.seen).toSorted()).toEqual([
        'declared__run',
        ...inner,
        'nowhere__run',
        'nowhere__run',
      ]);
      expect(new Set(watched.handlerRuns).size).toBe(5);
      expect(watched.handlerRuns).toHaveLength(5);
      expect(watched.escaped).toEqual([]);
    },
  );
});

describe('old extensions, loaded with compat: v010', () => {
  /** Handlers at all points that come between a call and the core: some change it, one tries a failed call again. */
  const old = `export function register({ pipelines }) {
    for (const point of ['turn.pre', 'step.pre', 'step.config', 'step.blocks', 'step.llmInput', 'step.post', 'turn.post'])
      pipelines.mutate(point, (ctx) => ({ ...ctx }));
    pipelines.mutate('step.tools', (ctx) => ({
      ...ctx,
      toolCatalog: ctx.toolCatalog.filter(({ name }) => name !== 'hidden__run'),
    }));
    pipelines.mutate('step.llmError', (ctx) => ({ ...ctx, shouldRetry: ctx.retryCount < 2, retryDelayMs: 0 }));
    pipelines.wrap('step.llmCall', async (ctx, next) => next({ ...ctx }));
    pipelines.mutate('toolCall.pre', (ctx) => ({ ...ctx, toolCall: { ...ctx.toolCall, args: { changed: true } } }));
    pipelines.wrap('toolCall.exec', async (ctx, next) => next(ctx));
    pipelines.mutate('toolCall.post', (ctx) => ({ ...ctx }));
  }`;

  test.each(['swarm', 'agent', 'hook'] as const)(
    'P-19 L-04 do not hide a model call or a tool call, in the %s tier, before and after the sentinels',
    async (tier) => {
      using bundle = temporaryBundle({ 'old.js': old });
      const declare = (name: string): ExtensionDeclaration => {
        const { resource, root } = extensionFile(name, bundle.folder, './old.js');
        return { resource: { ...resource, spec: { ...resource.spec, compat: 'v010' } }, root, tier };
      };
      const watched = watch();
      const names = ['declared__run', 'hidden__run', 'nowhere__run', 'beside__run'];
      const agent = await scriptedAgent({
        model: watched.model([
          { fail: { message: 'busy', times: 2 } },
          { when: 'go', calls: names.map((tool) => ({ tool })) },
          { say: 'done' },
        ]),
        tools: [watched.tool('declared'), watched.tool('hidden'), watched.tool('beside', { parallel: true })],
        extensions: [declare('old'), ...watched.sentinels, declare('old-too')],
      });
      expect((await agent.say('go')).text).toBe('done');
      expect(of('turn', watched.seen)).toEqual(['tested']);
      expect(of('step', watched.seen)).toHaveLength(4);
      expect(of('model', watched.seen)).toEqual(['step', 'step', 'step', 'step']);
      expect(watched.modelCalls()).toBe(4);
      expect(of('toolCall', watched.seen).toSorted()).toEqual(names.toSorted());
      expect(watched.handlerRuns).toHaveLength(2);
      expect(watched.escaped).toEqual([]);
    },
  );
});

describe('every agent call passes the sentinels', () => {
  test('P-19 from turn layers, step layers and tools, it passes the called agent’s chains', async () => {
    const caller = watch();
    const callee = watch();
    const engine = inProcessEngine(systemClock);
    const called = await scriptedAgent({
      agentName: 'helper',
      model: callee.model([{ say: 'helped' }]),
      extensions: callee.sentinels,
    });
    engine.add('helper', async (event) => (await called.agent.handle(event)).result);
    const calling = extension('calling', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        await ctx.agents.request({ target: 'helper', input: 'turn' });
        return ctx.next();
      });
      pipeline.register('step', async (ctx) => {
        await ctx.agents.send({ target: 'helper', input: 'step' });
        const result = await ctx.next();
        await ctx.agents.request({ target: 'helper', input: 'step' });
        return result;
      });
    });
    const asksHelper = caller.tool('asks', {
      async handler({ agents }) {
        await agents.send({ target: 'helper' });
        return (await agents.request({ target: 'helper', input: 'tool' })).response;
      },
    });
    const agent = await scriptedAgent({
      model: caller.model([{ when: 'go', call: { tool: 'asks__run' } }, { say: 'done' }]),
      tools: [asksHelper],
      extensions: [...caller.sentinels, calling],
      engine,
    });
    expect((await agent.say('go')).text).toBe('done');
    await called.close();
    expect(engine.calls).toHaveLength(7);
    expect(of('turn', callee.seen)).toEqual(Array(7).fill('helper'));
    expect(callee.modelCalls()).toBe(7);
    expect([...caller.escaped, ...callee.escaped]).toEqual([]);
  });
});

/** Creates a store that works until the n-th write. Every later write fails, as if the process were dead. */
function mortalStore(
  inner: ConversationStore,
  appends: number,
): ConversationStore & { readonly isDead: () => boolean } {
  let left = appends;
  const live = <Value>(action: () => Promise<Value>) =>
    left <= 0 ? Promise.reject(new Error('the process is gone')) : action();
  return {
    ...inner,
    isDead: () => left <= 0,
    append: (...args) => {
      left--;
      return live(() => inner.append(...args));
    },
    commit: (...args) => {
      left--;
      return live(() => inner.commit(...args));
    },
  };
}

describe('a resumed turn', () => {
  /** Starts a new agent, as after a restart, whose turn has calls from every kind of caller. */
  async function start(watched: Watched, store: ConversationStore) {
    const engine = inProcessEngine(systemClock);
    engine.add('helper', async (event) => ({ turnId: event.id, finishReason: 'text_response' }));
    const busy = beforeNext('busy', 'turn', async (ctx) => {
      await ctx.model.generate(ask('before'));
      await ctx.tools.call('once__run');
      await ctx.agents.request({ target: 'helper' });
    });
    const script = [
      { when: 'go', calls: [{ tool: 'once__run' }, { tool: 'again__run' }, { tool: 'nowhere__run' }] },
      { say: 'done' },
    ];
    const agent = await scriptedAgent({
      model: watched.model(script),
      tools: [watched.tool('once'), watched.tool('again', { idempotent: true })],
      extensions: [...watched.sentinels, busy],
      store,
      engine,
    });
    return { agent, engine, say: () => agent.say('go', { event: { id: 'same' } }) };
  }

  /** The chains that a sentinel sees in one run when nothing goes wrong. */
  const everything = ['turn tested', 'model busy', 'toolCall once__run', 'step 0', 'model step', 'toolCall once__run'];

  test('P-19 passes every chain of the unfinished work, wherever the crash was, and repeats no effect', async () => {
    let crashes = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const first = watch();
      const mortal = mortalStore(store, appends);
      const outcome = await (await start(first, mortal)).say().catch(() => 'crashed');
      if (!mortal.isDead()) {
        expect(outcome).toMatchObject({ text: 'done' });
        break;
      }
      crashes++;
      expect(outcome).toBe('crashed');
      const log = await recordsOf(store);
      const second = watch();
      const resumed = await start(second, store);
      expect((await resumed.say()).text).toBe('done');

      expect([...first.escaped, ...second.escaped]).toEqual([]);
      const expected = log.some(({ type }) => type === 'step') ? everything.slice(0, 3) : everything;
      expect(second.seen.slice(0, expected.length)).toEqual(expected);
      const done = new Set(log.flatMap((record) => (record.type === 'effect' ? record.key : [])));
      expect(resumed.engine.calls).toHaveLength(done.has('pre/busy/agent/0') ? 0 : 1);
      const sealed = new Set(log.flatMap((record) => (record.type === 'step' ? `${record.stepIndex}/model` : [])));
      const answered = [...done].filter((key) => /\/model(?:\/0)?$/.test(key) && !sealed.has(key));
      expect(second.modelCalls()).toBe(of('model', second.seen).length - answered.length);
      // A call that is not idempotent is never run twice: its id is the same in both runs.
      const once = [...first.handlerRuns, ...second.handlerRuns].filter((id) => id !== 'call_2');
      expect(new Set(once).size).toBe(once.length);
    }
    expect(crashes).toBeGreaterThanOrEqual(5);
  });

  async function recordsOf(store: ConversationStore): Promise<readonly TurnRecord[]> {
    return (await store.open({ agentName: 'tested', instanceKey: 'default' }, 'turn-same')).log;
  }
});

describe('approval of tool calls', () => {
  const approved: ApprovalOutcome = { decision: 'approved' };
  const denied: ApprovalOutcome = { decision: 'denied' };

  /**
   * Asks for approval of every call, as a swarm-wide guard does, and always calls `next()`. The core still refuses a
   * denied call.
   */
  const guard = extension(
    'guard',
    layerOf('toolCall', async (ctx) => {
      await ctx.approval.ask({ reason: 'Always.' });
      return ctx.next();
    }),
    { tier: 'swarm' },
  );

  /**
   * Makes tool calls in every possible way: to declared and parallel tools, to tools that are registered early and
   * late, and from layers of all tiers.
   */
  async function onEveryRoad(watched: Watched, answer: Answer, store = memoryStore()) {
    const approver = fakeApprover(answer);
    const offering = extension('offering', (api) => {
      const late = () => api.tools.register({ name: 'late__run', description: '' }, watched.handler());
      const annotations = { readOnly: true };
      api.tools.register({ name: 'early__run', description: '', annotations }, watched.handler(late));
      // The tool is registered here, too, in case the call that would have registered it never ran.
      api.tools.register({ name: 'late__run', description: '' }, watched.handler());
    });
    const calling = (tier: 'swarm' | 'agent' | 'hook') =>
      extension(
        `calling-${tier}`,
        ({ pipeline }) => {
          pipeline.register('turn', async (ctx) => {
            await ctx.tools.call('declared__run', { from: `turn ${tier}` });
            return ctx.next();
          });
          pipeline.register('step', async (ctx) => {
            const result = await ctx.next();
            if (ctx.stepIndex === 0) await ctx.tools.call('declared__run', { from: `step ${tier}` });
            return result;
          });
        },
        { tier },
      );
    const agent = await scriptedAgent({
      model: watched.model([
        { when: 'go', calls: [{ tool: 'declared__run' }, { tool: 'beside__run' }, { tool: 'early__run' }] },
        { afterTool: 'early__run', call: { tool: 'late__run' } },
        { say: 'done' },
      ]),
      tools: [watched.tool('declared'), watched.tool('beside', { parallel: true })],
      extensions: [...watched.sentinels, guard, offering, calling('swarm'), calling('agent'), calling('hook')],
      approver,
      store,
    });
    return { agent, approver, say: () => agent.say('go', { event: { id: 'same' } }) };
  }

  const calls = 10;

  test('P-19 is asked for every call, and every handler runs after it is given', async () => {
    const watched = watch();
    const { approver, say } = await onEveryRoad(watched, () => approved);
    expect((await say()).text).toBe('done');
    expect(watched.handlerRuns).toHaveLength(calls);
    const askedAbout = approver.questions.map(({ toolCallId }) => toolCallId);
    expect(askedAbout.toSorted()).toEqual(watched.handlerRuns.toSorted());
    expect(of('toolCall', watched.seen)).toHaveLength(calls);
    expect(watched.escaped).toEqual([]);
  });

  test('P-19 no handler runs on any road when it is denied', async () => {
    const watched = watch();
    const { approver, say } = await onEveryRoad(watched, () => denied);
    await say();
    expect(approver.questions).toHaveLength(calls);
    expect(watched.handlerRuns).toEqual([]);
  });

  test.each([
    ['yes', approved],
    ['no', denied],
  ])('P-19 is asked once, wherever the crash was: %s', async (_, outcome) => {
    let crashes = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const asked: string[] = [];
      const answer: Answer = ({ key, toolCallId }) => {
        asked.push(`${key} ${toolCallId}`);
        return outcome;
      };
      const [first, second] = [watch(), watch()];
      const run = await onEveryRoad(first, answer, mortal);
      const end = await run.say().catch(() => 'crashed');
      if (!mortal.isDead()) break;
      crashes++;
      expect(end).toBe('crashed');
      const resumed = await onEveryRoad(second, answer, store);
      // The approver keeps the answers that the crashed run did not store.
      resumed.approver.remember(run.approver);
      expect((await resumed.say()).text).toBe('done');
      expect(asked).toHaveLength(calls);
      expect(new Set(asked).size).toBe(calls);
      const runs = [...first.handlerRuns, ...second.handlerRuns].filter((id) => id !== 'call_3');
      expect(new Set(runs).size).toBe(runs.length);
      if (outcome === denied) expect(runs).toEqual([]);
      expect([...first.escaped, ...second.escaped]).toEqual([]);
    }
    expect(crashes).toBeGreaterThanOrEqual(10);
  });
});

describe('a replay', () => {
  test('P-19 passes the chains that the turn passed, and calls no model, no handler and no agent', async () => {
    const watched = watch();
    const script = [{ when: 'go', calls: [{ tool: 'one__run' }, { tool: 'two__run' }] }, { say: 'done' }];
    const asking = extension('asking', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        await ctx.model.generate(ask('before'));
        const result = await ctx.next();
        await ctx.tools.call('one__run', {});
        return result;
      });
      pipeline.register('step', async (ctx) => {
        await ctx.agents.request({ target: 'other', input: 'hello' });
        return ctx.next();
      });
    });
    const plan: AgentPlan = {
      agentName: 'tested',
      models: { 'Model/m': watched.model(script) },
      tools: [watched.tool('one', { parallel: true }), watched.tool('two')],
      extensions: [...watched.sentinels, asking],
    };
    let requests = 0;
    const engine: Engine = {
      ...noEngine,
      async request(_to, { id: turnId }) {
        requests += 1;
        return { turnId, finishReason: 'text_response', responseMessage: createAssistantMessage('hi') };
      },
    };
    const { start, result } = await recordInMemory(plan, ['go'], { engine });
    expect(result.finishReason).toBe('text_response');
    const then = { seen: [...watched.seen], calls: watched.modelCalls(), runs: watched.handlerRuns.length, requests };
    expect(then).toMatchObject({ calls: 3, runs: 3, requests: 2 });
    watched.seen.length = 0;

    const outcome = await replayTurn(plan, start, { engine });
    expect(outcome.first).toBeUndefined();
    expect(outcome.served).toEqual({ model: 3, tool: 3, agent: 2, approval: 0 });
    expect(watched.seen).toEqual(then.seen);
    expect(watched.escaped).toEqual([]);
    expect({ calls: watched.modelCalls(), runs: watched.handlerRuns.length, requests }).toEqual({
      calls: then.calls,
      runs: then.runs,
      requests: then.requests,
    });
  });
});

describe('the sources', () => {
  // The base library is left out, because its layers use `ctx.model`, as any author's layers do.
  const sources = readRepository('packages/{cli,runtime}/src/**/*.{ts,tsx}')
    .filter(({ path }) => !path.endsWith('.test.ts') && !path.includes('/testing/') && !/\/model\/[^/]+\//.test(path))
    .map(({ path, text }) => ({ path, code: text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '') }));

  test.each([
    ['a model', /\.generate\??\.?\(/, 'agent/model-call/call-model.ts'],
    ['a tool’s handler', /\.handler\??\.?\(/, 'agent/tool-call/invoke-tool.ts'],
    ['the engine', /\bengine\.(?:request|deliver)\(/, 'agent/agents-api/agents-api.ts'],
    ['a person', /\bapprover\.ask\(/, 'agent/tool-call/ask-person.ts'],
  ])('P-19 call %s from one file only', (_, call, only) => {
    const callers = sources.filter(({ code }) => call.test(code)).map(({ path }) => path);
    expect(callers).toEqual([`packages/runtime/src/${only}`]);
  });
});
