// Tests a turn of ten steps that uses everything a turn can do. It is killed at every write of its store and then
// resumed.
import { describe, expect, test } from 'bun:test';
import {
  createSystemMessage,
  type Message,
  type ModelReply,
  type TurnMiddlewareContext,
  type MessageOptions,
} from '@goondan/types';
import fc from 'fast-check';
import { samples, sampleStep } from '../../../../../test/samples.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import type { Clock } from '../../ports/clock.ts';
import { extension, inProcessEngine, scriptedAgent, type TestedTurn } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { ConversationStore, TurnRecord } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const address = { agentName: 'tested', instanceKey: 'default' };
const turnId = 'turn-big';

/** A clock that never moves, so that the times of two runs are equal. Only short waits end. */
const clock: Clock = {
  now: () => new Date(0),
  elapsed: () => 0,
  after: (ms, action) => {
    const timer = ms > 100 ? undefined : setTimeout(action, 0);
    return () => clearTimeout(timer);
  },
};

/** One simulated process, with the number of effects of each kind and the layers that ran. */
interface Process {
  readonly store: ConversationStore;
  readonly done: Record<Exclude<EffectKind, 'approval' | 'budget'>, number>;
  readonly layers: { readonly kind: 'turn' | 'step'; readonly resumed: boolean }[];
  run(): Promise<TestedTurn>;
}

async function startProcess(store: ConversationStore): Promise<Process> {
  const done = { model: 0, tool: 0, agent: 0 };
  const layers: Process['layers'] = [];
  const engine = inProcessEngine(clock);
  engine.add('helper', async (event) => {
    done.agent++;
    return { turnId: 'x', finishReason: 'text_response', responseMessage: createSystemMessage(`help: ${event.input}`) };
  });
  const agent = await scriptedAgent({
    store,
    clock,
    engine,
    model: tenSteps(() => done.model++),
    tools: [tools(() => done.tool++)],
    // The limit is high, because the tests kill the turn more often than the default limit allows.
    policy: { retryBaseMs: 0, crashesBeforeDeadLetter: 100 },
    systemPrompt: 'Work.',
    extensions: [outer, busy((kind, resumed) => layers.push({ kind, resumed }))],
  });
  const event = { id: 'big', traceId: 'trace' };
  return { store, done, layers, run: () => agent.say('work', { event }) };
}

/** Creates a model that calls tools in ten steps, and then answers. */
function tenSteps(count: () => void): Model {
  return {
    async generate({ messages }) {
      count();
      // A real model takes time, during which earlier records go to disk.
      await Bun.sleep(0);
      const newest = messages.at(-1)?.content;
      if (typeof newest === 'string' && newest.startsWith('ask:'))
        return reply([{ type: 'text', text: `told ${newest}` }]);
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const number = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
      if (number === 10) return reply([{ type: 'text', text: 'worked' }]);
      const calls = [['safe'], ['once'], ['look', 'once', 'look']][number % 3] ?? [];
      return reply(
        calls.map((name, place) => ({
          type: 'tool-call',
          toolCallId: `${name}-${number}-${place}`,
          toolName: `tools__${name}`,
          input: { number },
        })),
      );
    },
  };
}

function reply(content: ModelReply['content']): ModelReply {
  const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11, cachedInputTokens: 5, reasoningTokens: 1 };
  return { content, finishReason: 'stop', usage };
}

function tools(count: () => void): ToolDeclaration {
  const described = { description: 'Works.' };
  return {
    name: 'tools',
    exports: [
      { ...described, name: 'safe', idempotent: true },
      { ...described, name: 'once' },
      { ...described, name: 'look', idempotent: true, parallel: true, effects: 'none' },
    ],
    handlers: {
      safe: async (ctx, input) => {
        count();
        const { response } = await ctx.agents.request({ target: 'helper', input: ctx.toolCallId });
        return { ...input, response };
      },
      once: async (_ctx, input) => {
        count();
        await Bun.sleep(0);
        return input;
      },
      look: (_ctx, input) => {
        count();
        return input;
      },
    },
  };
}

const says = (id: string, options: MessageOptions = {}) => ({
  type: 'append' as const,
  message: createSystemMessage(id, {}, { id, createdAt: clock.now(), ...options }),
});

/** Changes the base, and emits messages before and after everything else. */
const outer = oneLayer('outer', 'turn', async (ctx) => {
  ctx.emitMessageEvent({ type: 'remove', targetId: 'old 1' });
  ctx.emitMessageEvent(says('outer before', { lifetime: 'turn' }));
  const { metadata } = ctx;
  const result = await ctx.next();
  ctx.emitMessageEvent(says(`outer after ${JSON.stringify(metadata)}`));
  return result;
});

/**
 * Creates an extension that uses everything a layer has: events, state, metadata, models, agents, tools, retries,
 * changes in place.
 */
function busy(ran: (kind: 'turn' | 'step', resumed: boolean) => void) {
  return extension('busy', ({ pipeline, state }) => {
    const count = async () => state.set(Number(await state.get()) + 1);
    pipeline.register('turn', async (ctx) => {
      ran('turn', ctx.resumed);
      ctx.metadata.path = ['before'];
      await count();
      ctx.emitMessageEvent(says(`before ${await ask(ctx)}`));
      const result = await ctx.next();
      await count();
      const { output } = await ctx.tools.call('tools__safe', { number: -1 });
      ctx.emitMessageEvent(says(`after ${await ask(ctx)} ${JSON.stringify(output)}`));
      ctx.emitMessageEvent({ ...says('new'), type: 'replace', targetId: 'old 2' });
      return result;
    });
    pipeline.register('step', async (ctx) => {
      ran('step', ctx.resumed);
      await count();
      const path = ctx.metadata.path as string[];
      ctx.metadata.path = [...path, `${ctx.stepIndex}`];
      ctx.emitMessageEvent(says('hint', { lifetime: 'step' }));
      ctx.emitMessageEvent(says(`step ${ctx.stepIndex}`));
      if (ctx.stepIndex % 4 === 1) ctx.emitMessageEvent(says(`${await ask(ctx)} in ${ctx.stepIndex}`));
      // The layer throws once before the model call, so that this step is dropped. It throws once after the tools ran,
      // so that this step is kept.
      if (ctx.stepIndex === 3) throw again();
      const result = await ctx.next();
      if (ctx.stepIndex === 6) throw again();
      ctx.emitMessageEvent({ type: 'remove', targetId: `step ${ctx.stepIndex}` });
      ctx.emitMessageEvent(says(`stepped ${ctx.stepIndex} with ${ctx.turn.toolResults.length} results`));
      return result;
    });
    pipeline.register('model', async (ctx) => {
      const answer = await ctx.next();
      for (const part of answer.content) if (part.type === 'text') part.text += '!';
      return answer;
    });
    pipeline.register('toolCall', async (ctx) => {
      ctx.args = { ...ctx.args, steps: (ctx.metadata.path as string[]).length };
      const result = await ctx.next();
      if (isPlainObject(result.output)) result.output.seen = Number(result.output.seen ?? 0) + 1;
      return result;
    });
  });
}

async function ask(ctx: Pick<TurnMiddlewareContext, 'model' | 'agents'>): Promise<string> {
  const { content } = await ctx.model.generate({ messages: [{ role: 'user', content: 'ask: what' }] });
  const { response } = await ctx.agents.request({ target: 'helper', input: 'please' });
  return content.map((part) => (part.type === 'text' ? `${part.text} ${response}` : '')).join('');
}

const again = () => Object.assign(new Error('again'), { retryable: true });

/** How a process dies: at which write, and how much of that write succeeds. */
interface Death {
  readonly at: number;
  readonly through: 'nothing' | 'half' | 'all';
  /** How later writes appear to the dying process: they fail, or never return. */
  readonly looks: 'failing' | 'hanging';
}

/** The store as a dying process sees it. */
function mortal(inner: ConversationStore, death: Death) {
  const died = Promise.withResolvers<'died'>();
  let writes = 0;
  const write = async (all: () => Promise<void>, half: () => Promise<void>) => {
    const number = writes++;
    if (number < death.at) return all();
    if (number === death.at && death.through !== 'nothing') await (death.through === 'all' ? all() : half());
    died.resolve('died');
    if (death.looks === 'failing') throw new Error('dead');
    return new Promise<void>(() => undefined);
  };
  const store: ConversationStore = {
    ...inner,
    append: (to, epoch, at, records) =>
      write(
        () => inner.append(to, epoch, at, records),
        () => inner.append(to, epoch, at, records.slice(0, Math.ceil(records.length / 2))),
      ),
    commit: (...given) =>
      write(
        () => inner.commit(...given),
        () => Promise.resolve(),
      ),
  };
  return { store, died: died.promise };
}

/** Creates a store that contains a conversation of two messages. */
async function newStore(): Promise<ConversationStore> {
  const store = memoryStore();
  const { epoch } = await store.open(address, 'turn-old');
  const messages = ['old 1', 'old 2'].map((id) => says(id).message);
  const result = { turnId: 'turn-old', finishReason: 'text_response' } as const;
  await store.commit(address, epoch, 'turn-old', { type: 'append', messages }, { busy: 100 }, result);
  return store;
}

/** Runs the turn until its process dies. Returns false when the turn ended before that. */
async function runUntil(death: Death, inner: ConversationStore): Promise<boolean> {
  const { store, died } = mortal(inner, death);
  const process = await startProcess(store);
  const outcome = await Promise.race([process.run().catch(() => 'died'), died]);
  return outcome === 'died';
}

/** Returns everything that a store contains of the turn. */
async function durable(store: ConversationStore) {
  const { log, finished } = await store.open(address, turnId);
  const keysOf = (type: 'intent' | 'effect', kind: EffectKind) =>
    new Set(log.flatMap((record) => (record.type === type && record.kind === kind ? [record.key] : [])));
  const done = { model: keysOf('effect', 'model'), tool: keysOf('effect', 'tool'), agent: keysOf('effect', 'agent') };
  const begun = keysOf('intent', 'tool').difference(done.tool);
  return {
    finished: finished !== undefined,
    started: log.length > 0,
    steps: log.filter((record: TurnRecord) => record.type === 'step').length,
    done: { model: done.model.size, tool: done.tool.size, agent: done.agent.size },
    /** Calls that must not be repeated, although their outcome is unknown. */
    interrupted: [...begun].flatMap((key) => /once-.*$/.exec(key)?.[0] ?? []),
  };
}

/** Returns everything that remains of the turn. */
async function outcomeOf(process: Process) {
  const { result, stepCount, usage } = await process.run();
  const { messages, extensionState } = await process.store.read(address);
  return { result, stepCount, usage, messages, extensionState };
}

/** Returns the same messages, with E_INTERRUPTED as the result of each interrupted call. */
function withInterrupted(messages: readonly Message[], interrupted: readonly string[]): readonly Message[] {
  return messages.map((message) => {
    if (message.source.type !== 'tool' || !interrupted.includes(message.source.toolCallId)) return message;
    const { toolCallId, toolName } = message.source;
    const value = expect.objectContaining({ code: 'E_INTERRUPTED' }) as never;
    const content = [
      { type: 'tool-result' as const, toolCallId, toolName, output: { type: 'error-json' as const, value } },
    ];
    return { ...message, data: { role: 'tool' as const, content } };
  });
}

const uninterrupted = await (async () => {
  const process = await startProcess(await newStore());
  return { ...(await outcomeOf(process)), process };
})();

/** Resumes the turn in a new process, and compares everything with an uninterrupted run. */
async function expectSameEnd(store: ConversationStore, interrupted: readonly string[] = []): Promise<void> {
  const before = await durable(store);
  const process = await startProcess(store);
  const { messages, ...rest } = await outcomeOf(process);
  const { process: whole, messages: wanted, stepCount, usage, ...same } = uninterrupted;
  expect(messages).toEqual(withInterrupted(wanted, [...interrupted, ...before.interrupted]));
  if (before.finished) {
    expect(rest).toMatchObject(same);
    expect([process.done, process.layers]).toEqual([{ model: 0, tool: 0, agent: 0 }, []]);
    return;
  }
  expect(rest).toEqual({ ...same, stepCount, usage });
  expect(process.done).toEqual({
    model: whole.done.model - before.done.model,
    tool: whole.done.tool - before.done.tool - before.interrupted.length,
    agent: whole.done.agent - before.done.agent,
  });
  const stepsToGo = whole.layers.length - 1 - before.steps;
  const layers = [{ kind: 'turn' }, ...Array.from({ length: stepsToGo }, () => ({ kind: 'step' }))];
  expect(process.layers).toEqual(layers.map((layer) => ({ ...layer, resumed: before.started })) as never);
}

describe('a turn of ten steps', () => {
  test('covers everything that the other tests rely on', () => {
    const { result, stepCount, messages, extensionState, process } = uninterrupted;
    expect(result).toMatchObject({
      finishReason: 'text_response',
      responseMessage: { data: { content: [{ text: 'worked!' }] } },
    });
    // The turn has ten completed steps, one dropped step, and one failed step that was kept.
    expect([stepCount, process.layers.length, extensionState.busy]).toEqual([10, 13, 114]);
    expect(process.done).toEqual({ model: 16, tool: 17, agent: 10 });
    const ids = messages.map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual(['new', 'turn-big.input']);
    expect(ids.filter((id) => id.startsWith('stepped')).length).toBe(10);
    expect(ids).toContain('step 6');
    expect(ids).not.toContain('step 3');
    expect(ids.some((id) => id === 'hint' || id === 'outer before')).toBe(false);
  });

  // In `npm test` each of three tests kills at every third write, and together they kill at all.
  const step = Math.min(3, sampleStep);
  test.each(
    (['failing', 'hanging'] as const).flatMap((looks) =>
      (['nothing', 'half', 'all'] as const).map((through, first) => [looks, through, first % step] as const),
    ),
  )('M-11 ends the same wherever it is killed: %s writes, of which %s got through', async (looks, through, first) => {
    let at = first;
    for (; ; at += step) {
      const store = await newStore();
      if (!(await runUntil({ at, through, looks }, store))) break;
      await expectSameEnd(store);
    }
    // Each step writes at least twice: the intent of its call, and the outcome of the call.
    expect(at).toBeGreaterThan(20);
  });

  test('M-11 ends the same when it is killed three times in a row', async () => {
    const death = fc.record<Death>({
      at: fc.nat(30),
      through: fc.constantFrom('nothing', 'half', 'all'),
      looks: fc.constantFrom('failing', 'hanging'),
    });
    await fc.assert(
      fc.asyncProperty(death, death, death, async (...deaths) => {
        const store = await newStore();
        const interrupted: string[] = [];
        for (const each of deaths) {
          await runUntil(each, store);
          interrupted.push(...(await durable(store)).interrupted);
        }
        await expectSameEnd(store, interrupted);
      }),
      { numRuns: samples(100, 10) },
    );
  }, 120_000);

  test('M-11 returns its result again when it is finished, to any process, and runs nothing', async () => {
    const store = await newStore();
    await expectSameEnd(store);
    await expectSameEnd(store);
    await expectSameEnd(store);
  });
});
