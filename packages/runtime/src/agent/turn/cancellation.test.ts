/** Tests how a turn ends when it is cancelled or exceeds its deadline. */
import { describe, expect, test } from 'bun:test';
import {
  createSystemMessage,
  type ExtensionApi,
  type MiddlewareKind,
  type ModelReply,
  type TurnMiddlewareContext,
} from '@goondan/types';
import { extension, manualClock, type ManualClock, scriptedAgent, type TestedTurn } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const never = () => new Promise<never>(() => undefined);
const toolOf = (run: NonNullable<ToolDeclaration['handlers']>[string]): ToolDeclaration => ({
  name: 'slow',
  exports: [{ name: 'run', description: '' }],
  handlers: { run },
});
const callThenSay = [{ when: 'go', call: { tool: 'slow__run' } }, { say: 'done' }];

/** Creates an extension with one layer of any kind, which hangs. */
const hanging = (kind: MiddlewareKind, onEnter?: () => void) =>
  extension('hanging', ({ pipeline }) => {
    // The cast is needed because one function serves all kinds, but each overload of `register` takes one kind.
    pipeline.register(kind as 'turn', () => {
      onEnter?.();
      return never();
    });
  });

/** Shows whether a turn has ended, without waiting for it. */
function watchEnd(turn: Promise<TestedTurn>): { readonly ended: boolean } {
  const state = { ended: false };
  void turn.finally(() => (state.ended = true));
  return state;
}

async function expectEndAfter(clock: ManualClock, ms: number, turn: Promise<TestedTurn>): Promise<TestedTurn> {
  const state = watchEnd(turn);
  await clock.advance(ms - 1);
  expect(state.ended).toBe(false);
  await clock.advance(1);
  expect(state.ended).toBe(true);
  return turn;
}

describe('a cancelled turn', () => {
  test('does not report a tool as failed that ended because of the abort signal', async () => {
    const cancel = new AbortController();
    const tool = toolOf(({ signal }) => {
      queueMicrotask(() => cancel.abort());
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    });
    const agent = await scriptedAgent({ script: callThenSay, tools: [tool], clock: manualClock() });
    const { result } = await agent.say('go', { signal: cancel.signal });
    expect(result.error?.code).toBe('E_CANCELLED');
    expect(agent.logs.map(({ event }) => event)).not.toContain('tool.failed');
  });

  test('ends at once with E_CANCELLED when a model ignores the abort signal', async () => {
    const cancel = new AbortController();
    let told: unknown;
    const model: Model = {
      generate({ signal }) {
        signal.addEventListener('abort', () => (told = signal.reason));
        queueMicrotask(() => cancel.abort());
        return never();
      },
    };
    const agent = await scriptedAgent({ model, clock: manualClock() });
    const { result } = await agent.say('hi', { signal: cancel.signal });
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_CANCELLED' } });
    expect(agent.logs.find(({ event }) => event === 'turn.failed')).toMatchObject({ level: 'info' });
    expect(told).toMatchObject({ code: 'E_CANCELLED' });
  });

  test('is logged as cancelled, at level info; a failed turn is logged as failed', async () => {
    const cancelled = await scriptedAgent({});
    await cancelled.say('hi', { signal: AbortSignal.abort() });
    const failed = await scriptedAgent({ script: [{ fail: { message: 'Overloaded.' } }] });
    await failed.say('hi');
    const lines = [...cancelled.logs, ...failed.logs].map(({ level, message }) => `${level}: ${message}`);
    expect(lines).toEqual([expect.stringMatching(/^info: Turn cancelled: /), 'error: Turn failed: Overloaded.']);
  });

  test('ends at once when a tool ignores the abort signal; its call has a result', async () => {
    const cancel = new AbortController();
    let wasTold = false;
    const tool = toolOf(({ signal }) => {
      signal.addEventListener('abort', () => (wasTold = true));
      queueMicrotask(() => cancel.abort());
      return never();
    });
    const agent = await scriptedAgent({ script: callThenSay, tools: [tool], clock: manualClock() });
    const { result } = await agent.say('go', { signal: cancel.signal });
    expect(result.error?.code).toBe('E_CANCELLED');
    expect(wasTold).toBe(true);
    expect(agent.requests).toHaveLength(1);
    expect((await agent.messages()).map(({ data }) => data.role)).toEqual(['user', 'assistant', 'tool']);
  });

  test.each(['turn', 'step', 'toolCall', 'model'] as const)(
    'does not wait longer than unwindMs for a %s layer that hangs',
    async (kind) => {
      const clock = manualClock();
      const cancel = new AbortController();
      const entered = Promise.withResolvers<void>();
      const agent = await scriptedAgent({
        script: callThenSay,
        tools: [toolOf(() => 'done')],
        extensions: [hanging(kind, entered.resolve)],
        clock,
        policy: { unwindMs: 500 },
      });
      const turn = agent.say('go', { signal: cancel.signal });
      await entered.promise;
      cancel.abort();
      const { result } = await expectEndAfter(clock, 500, turn);
      expect(result.error?.code).toBe('E_CANCELLED');
      expect(clock.pending).toBe(0);
    },
  );

  test('lets layers unwind: they see the signal, their catch and finally run, and their message events are kept', async () => {
    const cancel = new AbortController();
    const seen: unknown[] = [];
    const tidy = oneLayer('tidy', 'turn', async (ctx) => {
      try {
        return await ctx.next();
      } catch (error) {
        seen.push(ctx.signal.aborted, error);
        throw error;
      } finally {
        await Promise.resolve();
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('stopped') });
      }
    });
    const model: Model = {
      generate() {
        cancel.abort('because');
        return never();
      },
    };
    const agent = await scriptedAgent({ model, extensions: [tidy] });
    const { result } = await agent.say('hi', { signal: cancel.signal });
    expect(seen).toMatchObject([true, { code: 'E_CANCELLED', cause: 'because' }]);
    // The turn was cancelled, so no extension is named.
    expect(result.error).not.toHaveProperty('extension');
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hi', 'stopped']);
  });

  test('stays cancelled even if a layer returns a result', async () => {
    const cancel = new AbortController();
    const calming = oneLayer('calming', 'turn', (ctx) =>
      ctx.next().catch(() => ({ turnId: ctx.turnId, finishReason: 'text_response' as const })),
    );
    const model: Model = {
      generate() {
        cancel.abort();
        return never();
      },
    };
    const agent = await scriptedAgent({ model, extensions: [calming] });
    expect((await agent.say('hi', { signal: cancel.signal })).result.error?.code).toBe('E_CANCELLED');
  });

  test('is not retried even if the error is retryable', async () => {
    const cancel = new AbortController();
    const model: Model = {
      generate() {
        cancel.abort();
        return Promise.reject<ModelReply>(Object.assign(new Error('busy'), { retryable: true }));
      },
    };
    const agent = await scriptedAgent({ model });
    expect((await agent.say('hi', { signal: cancel.signal })).result.error?.code).toBe('E_CANCELLED');
    expect(agent.requests).toHaveLength(1);
  });

  test('calls no model when it was cancelled before it began, and leaves no message', async () => {
    const agent = await scriptedAgent();
    const { result } = await agent.say('hi', { signal: AbortSignal.abort() });
    expect(result.error?.code).toBe('E_CANCELLED');
    expect(agent.requests).toHaveLength(0);
    expect(await agent.messages()).toEqual([]);
    expect((await agent.say('again')).text).toBe('You said: again');
  });

  test('a signal that aborts after the turn has ended changes nothing', async () => {
    const cancel = new AbortController();
    const agent = await scriptedAgent();
    const { text } = await agent.say('hi', { signal: cancel.signal });
    cancel.abort();
    expect(text).toBe('You said: hi');
    expect((await agent.say('again')).text).toBe('You said: again');
  });
});

describe('a turn that is out of time', () => {
  test('ends with E_TURN_TIMEOUT, at once when no layer hangs', async () => {
    const clock = manualClock();
    const agent = await scriptedAgent({ model: { generate: never }, clock, policy: { turnTimeoutMs: 3_000 } });
    const { result } = await expectEndAfter(clock, 3_000, agent.say('hi'));
    expect(result.error).toMatchObject({ code: 'E_TURN_TIMEOUT' });
    expect(result.error?.message).toContain('3000 ms');
  });

  test.each(['E_TURN_TIMEOUT', 'E_CANCELLED'])(
    'keeps its input after %s while the conversation is opened',
    async (code) => {
      const [clock, store, cancel] = [manualClock(), memoryStore(), new AbortController()];
      const open: typeof store.open = async (...given) => {
        if (code === 'E_CANCELLED') cancel.abort();
        else await clock.advance(10);
        return store.open(...given);
      };
      const ran: string[] = [];
      const noting = oneLayer('noting', 'turn', (ctx) => (ran.push(ctx.turnId), ctx.next()));
      const policy = { turnTimeoutMs: 10 };
      const agent = await scriptedAgent({ clock, store: { ...store, open }, policy, extensions: [noting] });
      expect((await agent.say('hi', { signal: cancel.signal })).result.error?.code).toBe(code);
      expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hi']);
      expect(ran).toEqual([]);
    },
  );

  test('ends unwindMs later when a layer hangs', async () => {
    const clock = manualClock();
    const policy = { turnTimeoutMs: 3_000, unwindMs: 500 };
    const agent = await scriptedAgent({ extensions: [hanging('step')], clock, policy });
    const { result } = await expectEndAfter(clock, 3_500, agent.say('hi'));
    expect(result.error?.code).toBe('E_TURN_TIMEOUT');
  });

  test('leaves no timer behind when it ended in time', async () => {
    const clock = manualClock();
    const agent = await scriptedAgent({ script: callThenSay, tools: [toolOf(() => 'done')], clock });
    await agent.say('go');
    expect(clock.pending).toBe(0);
  });
});

describe('a layer that continues after its turn was given up', () => {
  /** Runs a turn layer that hangs in its first turn, and returns the context of the layer. */
  async function abandon(
    store = memoryStore(),
    onTurn?: (api: ExtensionApi, ctx: TurnMiddlewareContext) => Promise<void>,
  ) {
    const cancel = new AbortController();
    const woken = Promise.withResolvers<void>();
    let held: TurnMiddlewareContext | undefined;
    const sleeping = extension('sleeping', (api) => {
      api.pipeline.register('turn', async (ctx) => {
        if (held === undefined) {
          held = ctx;
          cancel.abort();
          await woken.promise;
        }
        await onTurn?.(api, ctx);
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ extensions: [sleeping], store, policy: { unwindMs: 1 } });
    const { result } = await agent.say('first', { signal: cancel.signal, event: { id: 'first' } });
    expect(result.error?.code).toBe('E_CANCELLED');
    if (held === undefined) throw new Error('the layer did not run');
    return { agent, held, wake: woken.resolve };
  }

  test('cannot call next(), emit, call a model, or disturb the next turn', async () => {
    const { agent, held, wake } = await abandon();
    await agent.say('second');
    const before = await agent.messages();
    const requests = agent.requests.length;
    const refusal = await held.next().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'E_CANCELLED' });
    expect(() => held.emitMessageEvent({ type: 'truncate' })).toThrow(
      expect.objectContaining({ code: 'E_TURN_ENDED' }),
    );
    expect(await held.model.generate({ messages: [] }).catch((error: unknown) => error)).toMatchObject({
      code: 'E_CANCELLED',
    });
    wake();
    expect((await agent.say('third')).text).toBe('You said: third');
    expect(agent.requests).toHaveLength(requests + 1);
    expect((await agent.messages()).slice(0, before.length)).toEqual([...before]);
  });

  test('does not restore the states of its own turn', async () => {
    const store = memoryStore();
    // These records come from an interrupted run of the first turn, which had set a state.
    const { epoch } = await store.open({ agentName: 'tested', instanceKey: 'default' }, 'turn-first');
    const entered = { type: 'entered', metadata: {}, extensionState: { sleeping: 'old' } } as const;
    await store.append({ agentName: 'tested', instanceKey: 'default' }, epoch, 0, [entered]);

    const { agent, held } = await abandon(store, (api) => api.state.set('new'));
    await agent.say('second');
    expect(await agent.stateOf('sleeping')).toBe('new');
    await held.next().catch(() => undefined);
    expect(agent.agent.parts.states.snapshot()).toEqual({ sleeping: 'new' });
  });
});
