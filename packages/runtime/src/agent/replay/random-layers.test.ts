// Tests random agents and turns: a replay behaves as recorded and, after a change of one layer, names that layer.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  createAssistantMessage,
  createSystemMessage,
  type ExtensionApi,
  GoondanError,
  type JsonObject,
  type ModelReply,
  type StepMiddlewareContext,
  type TurnMiddlewareContext,
} from '@goondan/types';
import fc from 'fast-check';
import { seed } from '../../../../../test/seed.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { recordRuns, type RunOfTurn } from '../../testing/record-runs.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import { type Engine, noEngine } from '../seams/engine.ts';
import type { Approver } from '../seams/approver.ts';
import { seededRandom } from '../../workspace/simulation/seeded-random.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { replayTurn } from './replay-turn.ts';

let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

const actions = {
  turn: ['append', 'replace', 'remove', 'generate', 'call', 'request', 'list', 'state', 'skip'],
  step: ['append', 'replace', 'remove', 'generate', 'call', 'request', 'list', 'state', 'skip', 'catalog', 'caught'],
  toolCall: ['args', 'result', 'short', 'skip', 'ask'],
  model: ['messages', 'params', 'reply', 'skip'],
} as const;

type Kind = keyof typeof actions;

interface RandomLayer {
  readonly kind: Kind;
  readonly action: string;
  readonly word: string;
  /** If true, the layer acts after `next()` instead of before, if that makes a difference. */
  readonly isAfter: boolean;
  readonly draws: boolean;
  readonly awaits: boolean;
}

const randomLayer: fc.Arbitrary<RandomLayer> = fc
  .constantFrom<Kind>('turn', 'step', 'toolCall', 'model')
  .chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      action: fc.constantFrom<string>(...actions[kind]),
      word: fc.string({ minLength: 1, maxLength: 3_000, size: 'max' }),
      isAfter: fc.boolean(),
      draws: fc.boolean(),
      awaits: fc.boolean(),
    }),
  );

/** Decides what the model, the tools and other agents do. */
const world = seededRandom(seed);
const anyNumber = () => world.below(2 ** 32);

/** The model never gives the same reply twice, so every reply in a replay must come from the recording. */
const model: Model = {
  async generate({ messages, tools }): Promise<ModelReply> {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const text = { type: 'text', text: `answer ${anyNumber()}` } as const;
    const isAnswered = messages.some(({ role }) => role === 'tool') || tools.length === 0;
    if (tools.length > 0 && world.chance(0.2)) throw Object.assign(new Error('overloaded'), { retryable: true });
    if (isAnswered) return { content: [text], finishReason: 'stop', usage };
    const call = (toolName: string) =>
      ({ type: 'tool-call', toolCallId: `call-${crypto.randomUUID()}`, toolName, input: { n: Date.now() } }) as const;
    return {
      content: [call('dice__throw'), call('dice__ask'), call('dice__throw'), call('dice__slow')],
      finishReason: 'tool-calls',
      usage,
    };
  },
};

const dice: ToolDeclaration = {
  name: 'dice',
  exports: [
    { name: 'throw', description: 'Throws.', parameters: { type: 'object' }, parallel: true },
    { name: 'slow', description: 'Throws.', parameters: { type: 'object' } },
    { name: 'ask', description: 'Asks another agent.', parameters: { type: 'object' }, parallel: true },
  ],
  handlers: {
    throw: async () => {
      await Bun.sleep(world.below(3));
      return { points: anyNumber(), at: Date.now() };
    },
    ask: async ({ agents }) => (await agents.request({ target: 'other', input: 'again?' })).response,
    slow: () => ({ points: crypto.randomUUID() }),
  },
};

const engine: Engine = {
  ...noEngine,
  catalog: () => [{ name: 'other' }],
  list: async () => [{ agentName: 'other', instanceKey: `${anyNumber()}`, status: 'idle' }],
  request: async (_to, event) => {
    await Bun.sleep(world.below(3));
    return {
      turnId: event.id,
      finishReason: 'text_response',
      responseMessage: createAssistantMessage(`heard ${anyNumber()}`),
    };
  },
};

const approver: Approver = {
  ask: async () => ({ id: 'a', decision: world.chance(0.5) ? 'approved' : 'denied' }),
  taken: () => undefined,
};

function extensionOf(layer: RandomLayer, index: number): ExtensionDeclaration {
  const name = `layer-${index}`;
  const resource = { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec: { entry: './x.ts' } };
  const register = (api: ExtensionApi) => {
    const loaded = layer.draws ? Date.now() + Math.random() : 0;
    registerLayer(api, layer, () => (layer.draws ? `${layer.word} ${loaded} ${drawAll()}` : layer.word));
  };
  return { resource: resource as ExtensionDeclaration['resource'], root: '/', module: { register } };
}

function drawAll(): string {
  const bytes = crypto.getRandomValues(new Uint32Array(2)).join();
  return [new Date().toISOString(), Date.now(), Math.random(), crypto.randomUUID(), performance.now(), bytes].join(' ');
}

function registerLayer(api: ExtensionApi, layer: RandomLayer, say: () => string): void {
  const { kind, action, isAfter, awaits } = layer;
  const pause = async () => {
    if (awaits) await Bun.sleep(1);
  };
  const options = { onError: action === 'skip' ? 'skip' : 'fail', mayShortCircuit: true } as const;
  const failing = async (ctx: { next(): Promise<unknown> }): Promise<never> => {
    if (isAfter) await ctx.next();
    throw new Error(say());
  };
  // The cast is safe: this layer throws before it could return a result of its kind.
  if (action === 'skip') return api.pipeline.register(kind as 'turn', failing, options);
  switch (kind) {
    case 'turn':
    case 'step': {
      const around = async <Result>(ctx: Powerful, next: () => Promise<Result>): Promise<Result> => {
        if (action === 'caught') {
          await act(api, 'append', ctx, say());
          // This event survives the retry, and the event above does not.
          return next().catch(async (error: unknown) => {
            await pause();
            await act(api, 'append', ctx, say());
            throw error;
          });
        }
        // A catalog that is changed after the model call has no effect.
        const result = isAfter && action !== 'catalog' ? await next() : undefined;
        await pause();
        await act(api, action, ctx, say());
        return result ?? next();
      };
      return kind === 'turn'
        ? api.pipeline.register('turn', (ctx) => around(ctx, () => ctx.next()), options)
        : api.pipeline.register('step', (ctx) => around(ctx, () => ctx.next()), options);
    }
    case 'toolCall':
      return api.pipeline.register(
        'toolCall',
        async (ctx) => {
          await pause();
          const { toolCallId, toolName } = ctx;
          if (action === 'short') return { toolCallId, toolName, status: 'ok', output: say() };
          if (action === 'ask') await ctx.approval.ask({ reason: say().slice(0, 900) });
          if (action === 'args') ctx.args = { ...ctx.args, said: say() };
          const result = await ctx.next();
          await pause();
          return action === 'result' ? { ...result, output: say() } : result;
        },
        options,
      );
    case 'model':
      return api.pipeline.register(
        'model',
        async (ctx) => {
          await pause();
          if (action === 'messages') ctx.messages = [...ctx.messages, { role: 'user', content: say() }];
          if (action === 'params') ctx.params = { ...ctx.params, stop: [say()] } as never;
          const reply = await ctx.next();
          return action === 'reply' ? { ...reply, content: [...reply.content, { type: 'text', text: say() }] } : reply;
        },
        options,
      );
  }
}

type Powerful = TurnMiddlewareContext | StepMiddlewareContext;

async function act(api: ExtensionApi, action: string, ctx: Powerful, said: string): Promise<void> {
  const append = (content: string) => {
    const message = createSystemMessage(content);
    ctx.emitMessageEvent({ type: 'append', message });
    return message.id;
  };
  switch (action) {
    case 'append':
      return void append(said);
    case 'replace': {
      const targetId = append('first');
      return ctx.emitMessageEvent({ type: 'replace', targetId, message: createSystemMessage(said) });
    }
    case 'remove':
      return ctx.emitMessageEvent({ type: 'remove', targetId: append(said) });
    case 'generate': {
      const reply = await ctx.model.generate({ messages: [{ role: 'user', content: said }] });
      return void append(JSON.stringify(reply.content));
    }
    case 'call':
      return void append(JSON.stringify(await ctx.tools.call('dice__slow', { said })));
    case 'request':
      return void append((await ctx.agents.request({ target: 'other', input: said })).response);
    case 'list':
      return void append(`${said} ${JSON.stringify(await ctx.agents.list())}`);
    case 'state':
      return api.state.set({ said } satisfies JsonObject);
    case 'catalog':
      if ('toolCatalog' in ctx) ctx.toolCatalog = ctx.toolCatalog.map((tool) => ({ ...tool, description: said }));
  }
}

function planOf(layers: readonly RandomLayer[]): AgentPlan {
  return {
    agentName: 'random',
    models: { 'Model/m': model },
    tools: [dice],
    extensions: layers.map(extensionOf),
    // With so many retries no turn fails: a layer that acts after `next()` would do nothing in such a turn.
    policy: { maxStepsPerTurn: 4, maxStepRetries: 30, retryBaseMs: 1, retryMaxMs: 1 },
  };
}

const ran = (chain: ChainRecord, extension: string): boolean =>
  chain.layers.some((layer) => layer.extension === extension) || chain.inside.some((each) => ran(each, extension));

test('a replayed turn behaves as recorded; with one layer changed, that layer is named first', async () => {
  let altered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(randomLayer, { minLength: 1, maxLength: 6 }), fc.nat(), async (layers, which) => {
      const plan = planOf(layers);
      const { start } = await recordInMemory(plan, ['one', 'two'], { engine, approver });
      expect((await replayTurn(plan, start, { engine })).first).toBeUndefined();

      const index = which % layers.length;
      const other = layers.map((layer, at) => (at === index ? { ...layer, word: `other ${layer.word}` } : layer));
      if (!ran(start.recording.chain, `layer-${index}`)) return;
      altered += 1;
      const { first } = await replayTurn(planOf(other), start, { engine });
      expect(first).toMatchObject({ extension: `layer-${index}` });
    }),
    { numRuns: Number(process.env['RUNS'] ?? 60) },
  );
  expect(altered).toBeGreaterThan(10);
}, 120_000);

interface RandomHalt {
  readonly how: 'cancelled' | 'left' | 'crashed';
  readonly afterMs: number;
  /** The time between the last lines on disk and the crash. */
  readonly lostMs: number;
}

const randomHalt: fc.Arbitrary<RandomHalt> = fc.record({
  how: fc.constantFrom('cancelled', 'left', 'crashed'),
  afterMs: fc.nat(12),
  lostMs: fc.nat(6),
});

/**
 * Returns the runs of a turn that is cancelled after some time, or interrupted and then continued by another process.
 */
function runsOf(plan: AgentPlan, { how, afterMs, lostMs }: RandomHalt): RunOfTurn[] {
  const run = { plan, ports: { engine, approver } };
  const when = Bun.sleep(afterMs);
  if (how === 'left') return [{ ...run, interrupted: { when, how } }, run];
  const lastWritten = Bun.sleep(Math.max(0, afterMs - lostMs));
  if (how === 'crashed') return [{ ...run, interrupted: { when, how, lastWritten } }, run];
  const controller = new AbortController();
  setTimeout(() => controller.abort(new GoondanError('E_CANCELLED', 'no more')), afterMs);
  return [{ ...run, signal: controller.signal }];
}

test('a turn halted anywhere behaves as recorded up to the halt; with one layer changed, no other is named', async () => {
  const seen = { halted: 0, named: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(randomLayer, { maxLength: 6 }), fc.nat(), randomHalt, async (layers, which, halt) => {
      const plan = planOf(layers);
      const { starts } = await recordRuns('one', runsOf(plan, halt));
      const index = which % Math.max(1, layers.length);
      const other = layers.map((layer, at) => (at === index ? { ...layer, word: `other ${layer.word}` } : layer));
      for (const start of starts) {
        if (start === undefined) continue;
        const { first, halted } = await replayTurn(plan, start, { engine });
        expect(first).toBeUndefined();
        expect(halted?.how).toBe(start.recording.halt?.how);
        const { first: altered } = await replayTurn(planOf(other), start, { engine });
        if (altered !== undefined) expect(altered).toMatchObject({ extension: `layer-${index}` });
        seen.halted += halted === undefined ? 0 : 1;
        seen.named += altered === undefined || halted === undefined ? 0 : 1;
      }
    }),
    { numRuns: Number(process.env['RUNS'] ?? 60) },
  );
  expect(seen.halted).toBeGreaterThan(10);
  expect(seen.named).toBeGreaterThan(3);
}, 120_000);
