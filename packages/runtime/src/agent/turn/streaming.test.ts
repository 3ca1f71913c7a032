/** Tests streamed text through a whole agent: when each delta is sent, and which text it contains. */
import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, type ExtensionRegister, type ModelDelta, type TurnDelta } from '@goondan/types';
import { extension, manualClock, scriptedAgent } from '../../testing/index.ts';
import { layerOf, oneLayer } from '../../testing/one-layer.ts';
import type { Model } from '../model/model-port.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const reply = (text: string) => ({ content: [{ type: 'text' as const, text }], finishReason: 'stop' as const, usage });

/** Creates a model that writes `the secret` in two deltas, and records when each is written. */
function writingModel(timeline: string[]): Model {
  return {
    async generate(request) {
      for (const text of ['the ', 'secret']) {
        timeline.push(`written ${text}`);
        request.onDelta({ type: 'text', text });
        await new Promise((resolve) => void setTimeout(resolve, 0));
      }
      return reply('the secret');
    },
  };
}

const textOfDelta = (delta: TurnDelta) => (delta.type === 'discard' ? 'discard' : delta.text);

/** Runs one turn. Returns everything that was written, received and finished, in order. */
async function listen(register?: (timeline: string[]) => ExtensionRegister) {
  const timeline: string[] = [];
  const agent = await scriptedAgent({
    model: writingModel(timeline),
    ...(register === undefined ? {} : { extensions: [extension('redact', register(timeline))] }),
  });
  const turn = await agent.say('hi', { onDelta: (delta) => timeline.push(`heard ${textOfDelta(delta)}`) });
  return { timeline, turn, agent };
}

describe('streaming', () => {
  test('text is heard delta by delta, as it is written', async () => {
    const { timeline } = await listen();
    expect(timeline).toEqual(['written the ', 'heard the ', 'written secret', 'heard secret']);
  });

  test('layers that do not buffer delay nothing', async () => {
    const { timeline } = await listen(() => ({ pipeline }) => {
      pipeline.register('turn', (ctx) => ctx.next());
      pipeline.register('model', (ctx) => ctx.next());
    });
    expect(timeline).toEqual(['written the ', 'heard the ', 'written secret', 'heard secret']);
  });

  test('with a buffering model layer nothing is heard before its chain is done, then its reply', async () => {
    const { timeline } = await listen((seen) => ({ pipeline }) => {
      pipeline.register(
        'model',
        async (ctx) => {
          await ctx.next();
          seen.push('redacted');
          return reply('the ***');
        },
        { buffers: true },
      );
      pipeline.register('step', async (ctx) => {
        const result = await ctx.next();
        seen.push('step done');
        return result;
      });
    });
    expect(timeline).toEqual(['written the ', 'written secret', 'redacted', 'heard the ***', 'step done']);
  });

  test('with a buffering step layer nothing is heard before its chain is done, then the message it left', async () => {
    const { timeline, agent } = await listen((seen) =>
      layerOf(
        'step',
        async (ctx) => {
          const result = await ctx.next();
          const said = ctx.conversationState.nextMessages.at(-1);
          if (said !== undefined) {
            ctx.emitMessageEvent({ type: 'replace', targetId: said.id, message: createAssistantMessage('the ***') });
          }
          seen.push('redacted');
          return result;
        },
        { buffers: true },
      ),
    );
    expect(timeline).toEqual(['written the ', 'written secret', 'redacted', 'heard the ***']);
    expect(JSON.stringify(await agent.messages())).not.toContain('secret');
  });

  test('with a buffering turn layer nothing is heard before every turn layer is done, then its answer', async () => {
    const { timeline, turn } = await listen((seen) => ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        const result = await ctx.next();
        seen.push('outer done');
        return result;
      });
      pipeline.register(
        'turn',
        async (ctx) => ({ ...(await ctx.next()), responseMessage: createAssistantMessage('the ***') }),
        { buffers: true },
      );
    });
    expect(timeline).toEqual(['written the ', 'written secret', 'outer done', 'heard the ***']);
    expect(turn.text).toBe('the ***');
  });

  test.each(['turn', 'step', 'toolCall', 'model'] as const)(
    'with a buffering %s layer nothing of a failed turn is heard',
    async (kind) => {
      const { timeline, turn } = await listen(() => ({ pipeline }) => {
        // The cast is needed because one function serves all kinds, but each overload of `register` takes one kind.
        pipeline.register(kind as 'turn', (ctx) => ctx.next(), { buffers: true });
        pipeline.register('model', async (ctx) => {
          await ctx.next();
          throw new Error('found a secret');
        });
      });
      expect(turn.result.finishReason).toBe('error');
      expect(timeline).toEqual(['written the ', 'written secret']);
    },
  );

  test('a layer’s own model call is never heard', async () => {
    const { timeline } = await listen(() =>
      layerOf('turn', async (ctx) => {
        await ctx.model.generate({ messages: [] });
        return ctx.next();
      }),
    );
    expect(timeline.filter((what) => what.startsWith('heard'))).toEqual(['heard the ', 'heard secret']);
    expect(timeline.filter((what) => what.startsWith('written'))).toHaveLength(4);
  });
});

describe('streaming and retries', () => {
  /** Creates a model that fails in the middle of its first answer. */
  function breakingModel(): Model {
    let calls = 0;
    return {
      async generate(request) {
        request.onDelta({ type: 'text', text: `try ${++calls}` });
        if (calls === 1) throw Object.assign(new Error('cut off'), { retryable: true });
        return reply(`try ${calls}`);
      },
    };
  }
  const buffering = (kind: 'turn' | 'step' | 'model') =>
    // The cast is needed because one function serves all kinds, but each overload of `register` takes one kind.
    oneLayer('buffering', kind as 'turn', (ctx) => ctx.next(), { buffers: true });

  test('the streamed text of a failed step is discarded, by step', async () => {
    const agent = await scriptedAgent({ model: breakingModel() });
    const { deltas } = await agent.say('hi');
    expect(deltas.map((delta) => [delta.stepIndex, textOfDelta(delta)])).toEqual([
      [0, 'try 1'],
      [0, 'discard'],
      [1, 'try 2'],
    ]);
  });

  test.each(['turn', 'step'] as const)('with a buffering %s layer only the step that counts is heard', async (kind) => {
    const agent = await scriptedAgent({ model: breakingModel(), extensions: [buffering(kind)] });
    expect((await agent.say('hi')).deltas.map(textOfDelta)).toEqual(['try 2']);
  });

  test('a model that continues writing after its deadline is not heard', async () => {
    const clock = manualClock();
    const late: ((delta: ModelDelta) => void)[] = [];
    const model: Model = {
      generate(request) {
        late.push((delta) => request.onDelta(delta));
        request.onDelta({ type: 'text', text: `try ${late.length}` });
        return late.length === 1 ? new Promise(() => undefined) : Promise.resolve(reply('try 2'));
      },
    };
    const agent = await scriptedAgent({ model, clock, policy: { modelTimeoutMs: 1_000, retryBaseMs: 1 } });
    const turn = agent.say('hi');
    await clock.advance(1_000);
    late[0]?.({ type: 'text', text: 'late' });
    await clock.advance(1);
    expect((await turn).deltas.map(textOfDelta)).toEqual(['try 1', 'discard', 'try 2']);
  });
});

describe('streaming and secrets', () => {
  /** Creates a model that writes a text which ends like the beginning of a secret, and then runs `next`. */
  function model(next: (signal: AbortSignal) => Promise<never>): Model {
    return {
      generate(request) {
        request.onDelta({ type: 'text', text: 'it is canar' });
        return next(request.signal);
      },
    };
  }
  const secrets = ['canary-12345'];
  const heard = ({ deltas }: { readonly deltas: readonly TurnDelta[] }) => deltas.map(textOfDelta);

  test('the held-back text is sent when the step fails, also when the turn does not', async () => {
    const saving = oneLayer('saving', 'turn', (ctx) =>
      ctx.next().catch(() => ({ turnId: ctx.turnId, finishReason: 'text_response' as const })),
    );
    const failing = model(() => Promise.reject(new Error('broken')));
    const agent = await scriptedAgent({ secrets, model: failing, extensions: [saving] });
    const turn = await agent.say('hi');
    expect(turn.result.finishReason).toBe('text_response');
    expect(heard(turn)).toEqual(['it is ', 'canar']);
  });

  test('the held-back text is sent when the turn is cancelled', async () => {
    const cancel = new AbortController();
    const agent = await scriptedAgent({
      secrets,
      model: model((signal) => {
        queueMicrotask(() => cancel.abort());
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }),
    });
    expect(heard(await agent.say('hi', { signal: cancel.signal }))).toEqual(['it is ', 'canar']);
  });

  test('the held-back text is sent when a layer keeps the step from ending', async () => {
    const cancel = new AbortController();
    const hanging = oneLayer('hanging', 'model', async (ctx) => {
      await ctx.next().catch(() => undefined);
      cancel.abort();
      return new Promise(() => undefined);
    });
    const failing = model(() => Promise.reject(new Error('broken')));
    const agent = await scriptedAgent({ secrets, model: failing, extensions: [hanging] });
    expect(heard(await agent.say('hi', { signal: cancel.signal }))).toEqual(['it is ', 'canar']);
  });
});
