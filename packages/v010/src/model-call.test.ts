// The points step.llmInput and step.llmCall.
import { describe, expect, test } from 'bun:test';
import { scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import type { LlmMessage, LlmResult, OldRegister, OldStepContext } from './old-types.ts';
import { callsTool, oldExtension } from './testing/old-extension.ts';

const start = (register: OldRegister, options: ScriptedAgentOptions = {}) =>
  scriptedAgent({ ...options, extensions: [oldExtension('old', register)] });

type Next = (ctx: OldStepContext) => Promise<LlmResult>;
const wrapping = (wrap: (ctx: OldStepContext, next: Next) => Promise<LlmResult>, options?: ScriptedAgentOptions) =>
  start(({ pipelines }) => pipelines.wrap('step.llmCall', wrap), options);

const contents = (messages: readonly { readonly content: unknown }[] = []) => messages.map(({ content }) => content);

describe('the messages of a model call', () => {
  const changing = (change: (input: LlmMessage[]) => LlmMessage[], options?: ScriptedAgentOptions) =>
    start(({ pipelines }) => {
      pipelines.mutate('step.llmInput', (ctx) => ({ ...ctx, llmInput: change(ctx.llmInput ?? []) }));
    }, options);

  test('L-04 are those that the functions at step.llmInput leave, for this call only', async () => {
    const agent = await changing((input) => [...input.slice(-1), { id: 'x', role: 'user', content: 'Be brief.' }]);
    await agent.say('one');
    await agent.say('two');
    expect(contents(agent.requests[1]?.messages)).toEqual(['two', 'Be brief.']);
    expect(await agent.messages()).toHaveLength(4);
    const shorter = await changing((input) => input.slice(0, 1));
    await shorter.say('one');
    await shorter.say('two');
    expect(contents(shorter.requests[1]?.messages)).toEqual(['one']);
  });

  test('L-04 have the shape of v0.10 and the ids of the conversation', async () => {
    let seen: LlmMessage[] = [];
    const agent = await changing((input) => (seen = input), { ...callsTool, systemPrompt: 'Be kind.' });
    await agent.say('go');
    const ids = (await agent.messages()).slice(0, 3).map(({ id }) => id);
    const calls = [{ id: 'call_1', name: 'echo__run', args: { text: 'hello' } }];
    const output = { text: 'hello' };
    expect(seen).toEqual([
      { id: 'system-0', role: 'system', content: 'Be kind.' },
      { id: ids[0] ?? '', role: 'user', content: 'go' },
      { id: ids[1] ?? '', role: 'assistant', toolCalls: calls },
      { id: ids[2] ?? '', role: 'tool', toolCallId: 'call_1', toolName: 'echo__run', output },
    ]);
  });

  test('L-04 a message that nobody changed reaches the model as it was, with everything that v0.10 does not know', async () => {
    const model = {
      async generate() {
        const content = [
          { type: 'reasoning' as const, text: 'hm', providerOptions: { fake: { signature: 's' } } },
          { type: 'text' as const, text: 'yes' },
        ];
        return { content, finishReason: 'stop' as const, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
      },
    };
    const agent = await changing((input) => input.filter(({ id }) => id !== 'none'), { model });
    await agent.say('one');
    await agent.say('two');
    expect(agent.requests[1]?.messages[1]).toMatchObject({
      content: [
        { type: 'reasoning', providerOptions: { fake: { signature: 's' } } },
        { type: 'text', text: 'yes' },
      ],
    });
  });

  test('L-04 that a later function restores are the original ones', async () => {
    let saved: LlmMessage[] = [];
    const agent = await start(({ pipelines }) => {
      pipelines.mutate('step.llmInput', (ctx) => {
        saved = ctx.llmInput ?? [];
        return { ...ctx, llmInput: [] };
      });
      pipelines.mutate('step.llmInput', (ctx) => ({ ...ctx, llmInput: saved }));
      pipelines.mutate('step.post', (ctx) => {
        expect(ctx).not.toHaveProperty('llmInput');
        return ctx;
      });
    });
    const { result } = await agent.say('hello');
    expect(result.error).toBeUndefined();
    expect(contents(agent.requests[0]?.messages)).toEqual(['hello']);
  });

  test('L-04 a message that was changed in place is the changed one', async () => {
    const agent = await changing((input) => {
      const [first] = input;
      if (first?.role === 'user') first.content = 'changed';
      return input;
    });
    await agent.say('hello');
    expect(contents(agent.requests[0]?.messages)).toEqual(['changed']);
  });

  test('L-04 that are malformed are an error with the extension and the point', async () => {
    const agent = await changing(() => [{ role: 'robot' } as never]);
    expect((await agent.say('hello')).result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      message:
        'Extension "old", step.llmInput: llmInput: the role of a message is "robot", not system, user, assistant or tool.',
    });
  });
});

describe('a function around the model call', () => {
  test('L-04 sees the context and the result, and passes both on unchanged', async () => {
    let seen: unknown;
    const agent = await wrapping(async (ctx, next) => {
      const result = await next(ctx);
      seen = result;
      return result;
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(seen).toMatchObject({
      message: { role: 'assistant', content: 'You said: hello' },
      toolCalls: [],
      meta: { finishReason: 'stop' },
    });
  });

  test('L-04 changes the text of the reply, and no text leaves before', async () => {
    const model: ScriptedAgentOptions['model'] = {
      async generate(request) {
        request.onDelta({ type: 'text', text: 'secret' });
        const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
        return { content: [{ type: 'text', text: 'secret' }], finishReason: 'stop', usage };
      },
    };
    const change = async (ctx: OldStepContext, next: Next) => {
      const result = await next(ctx);
      return { ...result, message: { ...result.message, content: 'changed' } };
    };
    const { text, deltas } = await (await wrapping(change, { model })).say('hello');
    expect(text).toBe('changed');
    expect(deltas).toEqual([expect.objectContaining({ type: 'text', text: 'changed' })]);
  });

  test('L-04 changes the tool calls of the reply', async () => {
    const agent = await wrapping(async (ctx, next) => {
      const result = await next(ctx);
      return { ...result, toolCalls: result.toolCalls.map((call) => ({ ...call, args: { text: 'other' } })) };
    }, callsTool);
    await agent.say('go');
    expect(JSON.stringify(await agent.messages())).toContain('"value":{"text":"other"}');
  });

  test('L-04 answers without the model', async () => {
    const agent = await wrapping(async () => ({ message: { role: 'assistant', content: 'cached' }, toolCalls: [] }));
    const { text } = await agent.say('hello');
    expect([text, agent.requests.length]).toEqual(['cached', 0]);
    expect(agent.logs).toEqual([]);
  });

  test('L-04 gives the model other messages and tools with next(ctx)', async () => {
    const agent = await wrapping(
      (ctx, next) => next({ ...ctx, llmInput: [{ id: 'x', role: 'user', content: 'other' }], toolCatalog: [] }),
      callsTool,
    );
    await agent.say('hello');
    expect(agent.requests[0]).toMatchObject({ messages: [{ role: 'user', content: 'other' }], tools: [] });
  });

  test('L-04 may call next() without the context', async () => {
    const agent = await wrapping((_ctx, next) => (next as () => Promise<LlmResult>)());
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('L-04 calling next() twice is an error, even if the function catches it', async () => {
    const agent = await wrapping(async (ctx, next) => {
      const result = await next(ctx);
      await next(ctx).catch(() => undefined);
      return result;
    });
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: 'Extension "old" called next() twice at step.llmCall.',
      suggestion: 'To call the model again, set shouldRetry at step.llmError.',
      extension: 'old',
    });
    expect(agent.requests).toHaveLength(1);
  });

  const early: LlmResult = { message: { role: 'assistant', content: 'early' }, toolCalls: [] };

  test('L-04 returning before next() is finished is an error, and the turn waits until next() is finished', async () => {
    let isOver = false;
    const model = {
      async generate() {
        for (let tick = 0; tick < 9; tick += 1) await new Promise((done) => void setImmediate(done));
        isOver = true;
        throw new Error('busy');
      },
    };
    const agent = await wrapping(
      async (ctx, next) => {
        void next(ctx);
        return early;
      },
      { model },
    );
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({ code: 'E_NEXT_NOT_AWAITED', extension: 'old' });
    expect(isOver).toBe(true);
  });

  test('L-04 an answer counts even if next() failed before, and nobody looked at its failure', async () => {
    const agent = await wrapping(
      async (ctx, next) => {
        void next(ctx);
        for (let tick = 0; tick < 9; tick += 1) await new Promise((done) => void setImmediate(done));
        return early;
      },
      { script: [{ fail: { message: 'busy' } }] },
    );
    expect((await agent.say('hello')).text).toBe('early');
  });

  test('L-04 calling the next() of an earlier call is an error, and the model is not called', async () => {
    let first: Next | undefined;
    const agent = await wrapping((ctx, next) => {
      const earlier = first;
      first ??= next;
      // The function does not look at the failure.
      void earlier?.(ctx);
      return (earlier ?? next)(ctx);
    });
    await agent.say('one');
    expect((await agent.say('two')).result.error).toMatchObject({ code: 'E_NEXT_LATE', extension: 'old' });
    expect(agent.requests).toHaveLength(1);
  });

  test('L-04 an error is that of the extension whose function threw it, also in layers further out', async () => {
    let caught: unknown;
    const { extension } = await import('@goondan/runtime/testing');
    const catching = extension('catching', ({ pipeline }) => {
      pipeline.register('step', async (ctx) => {
        try {
          return await ctx.next();
        } catch (error) {
          caught = error;
          throw error;
        }
      });
    });
    const outer = oldExtension('outer', ({ pipelines }) => pipelines.wrap('step.llmCall', (ctx, next) => next(ctx)));
    const inner = oldExtension('inner', ({ pipelines }) => {
      pipelines.wrap('step.llmCall', async (ctx, next) => {
        await next(ctx);
        return next(ctx);
      });
    });
    const agent = await scriptedAgent({ extensions: [catching, outer, inner] });
    expect((await agent.say('hello')).result.error).toMatchObject({ code: 'E_EXT_COMPAT', extension: 'inner' });
    expect(caught).toMatchObject({ extension: 'inner' });
  });

  test.each<[unknown, string]>([
    [undefined, 'it returned nothing'],
    [{}, 'the LlmResult has no message'],
    [{ message: {}, toolCalls: [{ id: 'x' }] }, 'a tool call has no id, name or args'],
  ])('L-04 returning %p is an error with the extension and the point', async (returned, problem) => {
    const agent = await wrapping(async () => returned as never);
    expect((await agent.say('hello')).result.error).toMatchObject({
      code: 'E_MIDDLEWARE_RESULT',
      message: `Extension "old", step.llmCall: ${problem}.`,
    });
  });

  test('L-04 does not run for a model call that another extension makes', async () => {
    let count = 0;
    const old = oldExtension('old', ({ pipelines }) => {
      pipelines.wrap('step.llmCall', (ctx, next) => {
        count += 1;
        return next(ctx);
      });
    });
    const { extension } = await import('@goondan/runtime/testing');
    const asking = extension('asking', ({ pipeline }) => {
      pipeline.register('step', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: 'aside' }] });
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ extensions: [old, asking] });
    await agent.say('hello');
    expect([count, agent.requests.length]).toEqual([1, 2]);
  });
});
