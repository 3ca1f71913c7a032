/** Tests the usage of a turn: its own model calls, and the agents that it called. */
import { describe, expect, test } from 'bun:test';
import type { ModelReply, TokenUsage } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { extension, inProcessEngine, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { recordingStore } from '../../testing/turn-records.ts';
import type { Model } from '../model/model-port.ts';
import { until } from '../../../../../test/until.ts';

const used = (inputTokens: number, outputTokens = 1, cachedInputTokens = 0, cacheWriteTokens = 0): TokenUsage => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
  ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
});

/** Creates a model whose replies call these agents, one in each step, and then answer. Each reply uses these tokens. */
function askingModel(targets: readonly string[], usage: TokenUsage): Model {
  let calls = 0;
  return {
    async generate() {
      const target = targets[calls++];
      const content: ModelReply['content'] =
        target === undefined
          ? [{ type: 'text', text: 'done' }]
          : [{ type: 'tool-call', toolCallId: `call_${calls}`, toolName: 'agents__request', input: { target } }];
      return { content, finishReason: target === undefined ? 'stop' : 'tool-calls', usage };
    },
  };
}

interface Asking {
  readonly targets?: readonly string[];
  readonly usage: TokenUsage;
  readonly options?: ScriptedAgentOptions;
}

/** Starts agents that can call each other. */
async function startAgents(agents: Readonly<Record<string, Asking>>) {
  const engine = inProcessEngine(systemClock);
  const started = await Promise.all(
    Object.entries(agents).map(async ([agentName, { targets = [], usage, options }]) => {
      const model = askingModel(targets, usage);
      const agent = await scriptedAgent({ agentName, agentTools: true, engine, model, ...options });
      engine.add(agentName, (event, signal) => agent.agent.handle(event, { signal }));
      return [agentName, agent] as const;
    }),
  );
  return Object.fromEntries(started);
}

/** An extension whose layer around each step fails the first `times` times, after the step. */
const failing = (times: number) =>
  extension('failing', ({ pipeline }) => {
    let left = times;
    pipeline.register('step', async (ctx) => {
      const result = await ctx.next();
      if (left-- > 0) throw Object.assign(new Error('try again'), { retryable: true });
      return result;
    });
  });

describe('the usage of a turn', () => {
  test('Y-03 is its own and that of the agents it called, also of those that these called', async () => {
    const { a } = await startAgents({
      a: { targets: ['b', 'c'], usage: used(100, 10, 40, 20) },
      b: { targets: ['c'], usage: used(7, 2, 3) },
      c: { usage: used(1_000, 5, 0, 600) },
    });
    const turn = await a?.say('go');
    // a: 3 replies, b: 2 replies, c: 1 reply for each of its two turns.
    expect(turn?.called).toEqual(used(2 * 7 + 2 * 1_000, 2 * 2 + 2 * 5, 2 * 3, 2 * 600));
    expect(turn?.usage).toEqual(used(3 * 100 + 2_014, 3 * 10 + 14, 3 * 40 + 6, 3 * 20 + 1_200));
    const told = a?.told.find(({ name }) => name === 'turn.completed')?.payload;
    expect(told).toMatchObject({ usage: turn?.usage, called: turn?.called });
  });

  test('Y-03 has no called part when no agent was called, and none for a send', async () => {
    const sending = beforeNext('sending', 'turn', (ctx) => ctx.agents.send({ target: 'b', input: 'go' }));
    const { a } = await startAgents({
      a: { usage: used(10), options: { extensions: [sending] } },
      b: { usage: used(1_000) },
    });
    const turn = await a?.say('go');
    expect(turn?.usage).toEqual(used(10));
    expect(turn).not.toHaveProperty('called');
  });

  test('Y-03 counts requests and model calls of layers, steps that were tried again, and no reply of a layer', async () => {
    const asking = beforeNext('asking', 'turn', async (ctx) => {
      await ctx.agents.request({ target: 'b' });
      await ctx.model.generate({ messages: [] });
    });
    const replying = extension('replying', ({ pipeline }) => {
      // A layer that answers in place of the model, or that changes the counts of a reply, pays for nothing.
      pipeline.register('model', async (ctx) => {
        if (ctx.extension === undefined && ctx.stepIndex === 2) {
          return { content: [{ type: 'text', text: 'mine' }], finishReason: 'stop', usage: used(5_000) };
        }
        return { ...(await ctx.next()), usage: used(9_999) };
      });
    });
    const { a } = await startAgents({
      a: { usage: used(10), options: { extensions: [asking, replying, failing(2)] } },
      b: { usage: used(300) },
    });
    const turn = await a?.say('go');
    expect(turn?.text).toBe('mine');
    expect(turn?.called).toEqual(used(300));
    expect(turn?.usage).toEqual(used(3 * 10 + 300, 3 + 1));
  });

  test('Y-03 counts a called agent that failed, and maxTokensPerTurn counts it, too', async () => {
    const broken = oneLayer('broken', 'turn', async (ctx) => {
      await ctx.next();
      throw new Error('no');
    });
    const { a } = await startAgents({
      a: { targets: ['b', 'b', 'b'], usage: used(10), options: { policy: { maxTokensPerTurn: 500 } } },
      b: { usage: used(300), options: { extensions: [broken] } },
    });
    const turn = await a?.say('go');
    expect(turn?.result.error).toMatchObject({
      code: 'E_TURN_TOKENS',
      message: expect.stringContaining('602 of them'),
    });
    expect(turn?.called).toEqual(used(600, 2));
    expect(turn?.usage).toEqual(used(620, 4));
    const told = a?.told.find(({ name }) => name === 'turn.failed')?.payload;
    expect(told).toMatchObject({ usage: turn?.usage, called: turn?.called });
  });

  test('Y-03 counts a called agent whose caller was cancelled', async () => {
    const waiting = afterNext('waiting', 'turn', async () => {
      cancel.abort();
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    const cancel = new AbortController();
    const { a } = await startAgents({
      a: { targets: ['b'], usage: used(10) },
      b: { usage: used(300), options: { extensions: [waiting] } },
    });
    const turn = await a?.say('go', { signal: cancel.signal });
    expect(turn?.result.error?.code).toBe('E_CANCELLED');
    expect(turn?.called).toEqual(used(300));
    expect(turn?.usage).toEqual(used(310, 2));
  });

  test.each(['while the turn runs', 'after the turn'] as const)(
    'Y-03 a request that timed out ends at once; its tokens count if they arrive in time: %s',
    async (when) => {
      const gate = Promise.withResolvers<void>();
      const slow = afterNext('slow', 'turn', () => gate.promise);
      const impatient = beforeNext('impatient', 'turn', async ({ agents }) => {
        const asked = agents.request({ target: 'b', timeoutMs: 5 });
        expect(await asked.catch((error: unknown) => error)).toMatchObject({ code: 'E_AGENT_TIMEOUT' });
        if (when === 'while the turn runs') await endCallee();
      });
      const endCallee = async () => {
        gate.resolve();
        await until(() => b?.told.some(({ name }) => name === 'turn.failed'));
      };
      const { store: inner, records } = recordingStore();
      const commit: typeof inner.commit = async (...given) => {
        await endCallee();
        return inner.commit(...given);
      };
      const { a, b } = await startAgents({
        a: { usage: used(10), options: { extensions: [impatient], store: { ...inner, commit } } },
        b: { usage: used(300), options: { extensions: [slow] } },
      });
      const turn = await a?.say('go');
      const late = when === 'after the turn' ? undefined : used(300);
      expect([turn?.text, turn?.called]).toEqual(['done', late]);
      expect(turn?.usage).toEqual(late === undefined ? used(10) : used(310, 2));
      // A resumed turn gets the timeout again, not the record of the tokens.
      const asked = records.flatMap((record) => (record.type === 'effect' && record.kind === 'agent' ? [record] : []));
      expect(asked.map(({ called }) => called)).toEqual(late === undefined ? [undefined] : [undefined, late]);
      expect(new Set(asked.map(({ key }) => key)).size).toBe(asked.length);
      // The called turn has them in any case, and so has the usage of the swarm.
      const end = await until(() => b?.told.find(({ name }) => name === 'turn.failed'));
      expect(end.payload).toMatchObject({ usage: used(300) });
    },
  );

  test('Y-03 a turn that was handled before has the usage that it had', async () => {
    const { a } = await startAgents({ a: { targets: ['b'], usage: used(10) }, b: { usage: used(300, 4, 200) } });
    const first = await a?.say('go', { event: { id: 'once' } });
    const again = await a?.say('go', { event: { id: 'once' } });
    expect(again?.stepCount).toBe(2);
    expect({ usage: again?.usage, called: again?.called }).toEqual({ usage: first?.usage, called: first?.called });
  });

  test('Y-03 a resumed turn counts each recorded reply and answer once, also one that it does not ask for again', async () => {
    const { store, records } = recordingStore();
    let crashes = true;
    const crashing = extension('crashing', ({ pipeline }) => {
      pipeline.register('step', async (ctx) => {
        // Only the first run asks in step 1.
        if (crashes && ctx.stepIndex === 1) await ctx.model.generate({ messages: [] });
        return ctx.next();
      });
      pipeline.register('toolCall', async (ctx) => {
        const result = await ctx.next();
        if (crashes && ctx.stepIndex === 1) await new Promise(() => undefined);
        return result;
      });
    });
    const engine = inProcessEngine(systemClock);
    const b = await scriptedAgent({ agentName: 'b', engine, model: askingModel([], used(300)) });
    engine.add('b', (event, signal) => b.agent.handle(event, { signal }));
    const start = (targets: readonly string[]) =>
      scriptedAgent({
        agentName: 'a',
        agentTools: true,
        engine,
        store,
        model: askingModel(targets, used(10)),
        extensions: [crashing],
      });
    // The layer takes the second reply.
    const first = await start(['b', 'b', 'b']);
    void first.say('go', { event: { id: 'once' } });
    await until(() => records.filter((record) => record.type === 'effect' && record.kind === 'agent').length === 2);
    crashes = false;
    const second = await start([]);
    const turn = await second.say('go', { event: { id: 'once' } });
    // Step 0, the call of the layer and the reply of step 1 are recorded. Only the answer in step 2 is new.
    expect(second.requests).toHaveLength(1);
    expect(turn.called).toEqual(used(600, 2));
    expect(turn.usage).toEqual(used(4 * 10 + 600, 4 + 2));
  });
});
