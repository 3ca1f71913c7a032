// The points toolCall.pre, toolCall.exec and toolCall.post.
import { describe, expect, test } from 'bun:test';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import type { OldRegister, OldToolCallContext, OldToolResult } from './old-types.ts';
import { callsTool, oldExtension } from './testing/old-extension.ts';

/** Starts an agent that calls a tool, and returns the result that the model gets. */
async function resultWith(register: OldRegister, options: ScriptedAgentOptions = callsTool) {
  const agent = await scriptedAgent({ ...options, extensions: [oldExtension('old', register)] });
  expect((await agent.say('go')).text).toBe('done');
  const outputs = (await agent.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content[0]?.output : []));
  return outputs[0];
}

type Next = (ctx: OldToolCallContext) => Promise<OldToolResult>;
const wrapping = (
  wrap: (ctx: OldToolCallContext, next: Next) => Promise<OldToolResult>,
  options?: ScriptedAgentOptions,
) => resultWith(({ pipelines }) => pipelines.wrap('toolCall.exec', wrap), options);

describe('the functions of a tool call', () => {
  test('L-04 see the call, its step and its result in the shape of v0.10', async () => {
    let seen: OldToolCallContext | undefined;
    await resultWith(({ pipelines }) => pipelines.mutate('toolCall.post', (ctx) => (seen = ctx)));
    const call = { toolCallId: 'call_1', toolName: 'echo__run' };
    expect(seen).toMatchObject({
      toolCall: { id: 'call_1', name: 'echo__run', args: { text: 'hello' } },
      toolResult: { ...call, output: { text: 'hello' }, status: 'ok' },
      step: { index: 0, llmResult: { toolCalls: [{ id: 'call_1' }] } },
      turn: { input: 'go' },
    });
    expect(seen?.toolCatalog.map(({ name }) => name)).toEqual(['echo__run']);
  });

  test('L-04 a function at toolCall.pre changes the arguments', async () => {
    const output = await resultWith(({ pipelines }) =>
      pipelines.mutate('toolCall.pre', (ctx) => ({ ...ctx, toolCall: { ...ctx.toolCall, args: { text: 'other' } } })),
    );
    expect(output).toEqual({ type: 'json', value: { text: 'other' } });
  });

  test('L-04 a function at toolCall.exec changes arguments and result, or answers without the tool', async () => {
    const around = await wrapping(async (ctx, next) => {
      const result = await next({ ...ctx, toolCall: { ...ctx.toolCall, args: { text: 'inner' } } });
      return { ...result, output: [result.output] };
    });
    expect(around).toEqual({ type: 'json', value: [{ text: 'inner' }] });
    const call = { toolCallId: 'call_1', toolName: 'echo__run' };
    expect(await wrapping(async () => ({ ...call, output: 'cached', status: 'ok' }))).toEqual({
      type: 'text',
      value: 'cached',
    });
  });

  test('L-04 a function at toolCall.exec runs a tool that step.tools added', async () => {
    const options = { script: [{ when: 'go', calls: [{ tool: 'dynamic.tool' }] }, { say: 'done' }] };
    const output = await resultWith(({ pipelines }) => {
      pipelines.mutate('step.tools', (ctx) => ({
        ...ctx,
        toolCatalog: [...ctx.toolCatalog, { name: 'dynamic.tool' }],
      }));
      pipelines.wrap('toolCall.exec', async ({ toolCall }) => ({
        toolCallId: toolCall.id,
        toolName: toolCall.name,
        output: 'dynamic',
        status: 'ok',
      }));
    }, options);
    expect(output).toEqual({ type: 'text', value: 'dynamic' });
  });

  test('L-04 a function at toolCall.post changes the result', async () => {
    const output = await resultWith(({ pipelines }) =>
      pipelines.mutate('toolCall.post', (ctx) => ({
        ...ctx,
        toolResult: {
          ...(ctx.toolResult as OldToolResult),
          status: 'error',
          error: { name: 'No', message: 'not today' },
        },
      })),
    );
    expect(output).toMatchObject({ type: 'error-json', value: { name: 'No', message: 'not today' } });
  });

  test('L-04 a result is that of its call, even if a function leaves the call out', async () => {
    const output = await resultWith(({ pipelines }) =>
      pipelines.mutate('toolCall.post', (ctx) => ({ ...ctx, toolResult: { output: 'mine', status: 'ok' } as never })),
    );
    expect(output).toEqual({ type: 'text', value: 'mine' });
  });

  test('L-04 a function sees the results of the earlier calls of its step', async () => {
    const counts: number[] = [];
    const calls = [1, 2].map((text) => ({ tool: 'echo__run', args: { text } }));
    await resultWith(
      ({ pipelines }) =>
        pipelines.mutate('toolCall.pre', (ctx) => {
          counts.push(ctx.turn.toolResults.length);
          return ctx;
        }),
      { ...callsTool, script: [{ when: 'go', calls }, { say: 'done' }] },
    );
    expect(counts).toEqual([0, 1]);
  });

  test('L-04 arguments that are no object are an error', async () => {
    const output = await resultWith(({ pipelines }) =>
      pipelines.mutate('toolCall.pre', (ctx) => ({ ...ctx, toolCall: { ...ctx.toolCall, args: [] as never } })),
    );
    expect(output).toMatchObject({ type: 'error-json', value: { code: 'E_MIDDLEWARE_RESULT' } });
  });

  test('L-04 an error result has its name, code and message', async () => {
    let seen: unknown;
    const tools = [
      {
        name: 'echo',
        exports: [{ name: 'run', description: '' }],
        handlers: {
          run() {
            throw new TypeError('broken');
          },
        },
      },
    ];
    const output = await wrapping(
      async (ctx, next) => {
        const result = await next(ctx);
        seen = result;
        return result;
      },
      { ...callsTool, tools },
    );
    expect(seen).toMatchObject({
      status: 'error',
      output: null,
      error: { name: 'TypeError', message: 'broken', code: 'E_TOOL_FAILED' },
    });
    expect(output).toMatchObject({ type: 'error-json', value: { message: 'broken', code: 'E_TOOL_FAILED' } });
  });

  const rename = (ctx: OldToolCallContext) => ({ ...ctx, toolCall: { ...ctx.toolCall, name: 'bash__exec' } });

  test('L-04 renaming a call is an error with a replacement, at toolCall.pre and with next(ctx)', async () => {
    const outputs = [
      await resultWith(({ pipelines }) => pipelines.mutate('toolCall.pre', rename)),
      await wrapping((ctx, next) => next(rename(ctx))),
    ];
    const message = 'Extension "old" changed the name of a tool call from "echo__run" to "bash__exec" at toolCall';
    for (const output of outputs) {
      expect(output).toMatchObject({
        type: 'error-json',
        value: { code: 'E_EXT_COMPAT', message: expect.stringContaining(message) },
      });
    }
  });

  test.each<[string, object]>([
    ['a pending result', { status: 'pending' }],
    ['a result with a handle', { status: 'ok', handle: 'h1' }],
  ])('L-04 %s is an error with a replacement', async (what, part) => {
    const call = { toolCallId: 'call_1', toolName: 'echo__run', output: null };
    const output = await wrapping(async () => ({ ...call, ...part }) as OldToolResult);
    expect(output).toMatchObject({
      value: {
        code: 'E_EXT_COMPAT',
        message: `Extension "old" returned ${what} at toolCall.exec.`,
        suggestion: expect.stringContaining('Wait for the result'),
      },
    });
  });

  test('L-04 calling next() twice is an error, and the tool runs once', async () => {
    let runs = 0;
    const [echo] = callsTool.tools ?? [];
    const tools = [{ ...echo, name: 'echo', exports: echo?.exports ?? [], handlers: { run: () => ++runs } }];
    const output = await wrapping(
      async (ctx, next) => {
        await next(ctx);
        return next(ctx);
      },
      { ...callsTool, tools },
    );
    expect(output).toMatchObject({
      value: { code: 'E_EXT_COMPAT', message: 'Extension "old" called next() twice at toolCall.exec.' },
    });
    expect(runs).toBe(1);
  });

  test('L-04 the calls of one step do not disturb each other when they run at the same time', async () => {
    const seen: unknown[] = [];
    const script = [
      { when: 'go', calls: ['a', 'b', 'c'].map((text) => ({ tool: 'slow__run', args: { text } })) },
      { say: 'done' },
    ];
    const slow = {
      name: 'slow',
      exports: [{ name: 'run', description: '', parameters: { type: 'object' }, parallel: true }],
      handlers: {
        async run(_: unknown, { text }: { text?: unknown }) {
          for (let tick = text === 'a' ? 9 : 0; tick > 0; tick--) await new Promise((done) => void setImmediate(done));
          return text as string;
        },
      },
    };
    await resultWith(
      ({ pipelines }) => {
        pipelines.mutate('toolCall.post', (ctx) => {
          seen.push([ctx.toolCall.args.text, ctx.toolResult?.output]);
          return ctx;
        });
        pipelines.mutate('step.post', (ctx) => {
          if (ctx.step.index === 0) seen.push(ctx.turn.toolResults.map(({ output }) => output));
          return ctx;
        });
      },
      { script, tools: [slow] },
    );
    expect(seen).toEqual([
      ['b', 'b'],
      ['c', 'c'],
      ['a', 'a'],
      ['a', 'b', 'c'],
    ]);
  });

  test('L-04 see the calls of other extensions, also those outside of a step', async () => {
    const seen: unknown[] = [];
    const old = oldExtension('old', ({ pipelines }) => {
      pipelines.wrap('toolCall.exec', (ctx, next) => {
        seen.push([ctx.toolCall.args.text, ctx.step.index, ctx.toolCatalog.length, ctx.blocks.length]);
        return next(ctx);
      });
    });
    const calling = extension('calling', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        expect((await ctx.tools.call('echo__run', { text: 'outside' })).status).toBe('ok');
        return ctx.next();
      });
    });
    for (const extensions of [
      [calling, old],
      [old, calling],
    ]) {
      const agent = await scriptedAgent({ ...callsTool, extensions });
      expect((await agent.say('go')).text).toBe('done');
      expect(seen.splice(0)).toEqual([
        ['outside', 0, 0, 0],
        ['hello', 0, 1, 0],
      ]);
    }
  });

  test('L-04 have no context of a step that began after their call', async () => {
    const [second, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const late = extension('late', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        const [, result] = await Promise.all([ctx.tools.call('echo__run', { text: 'late' }), ctx.next()]);
        return result;
      });
      pipeline.register('toolCall', async (ctx) => {
        if (ctx.args['text'] === 'late') await second.promise;
        return ctx.next();
      });
    });
    const old = oldExtension('old', ({ pipelines }) => {
      pipelines.mutate('step.pre', async (ctx) => {
        if (ctx.step.index === 1) {
          second.resolve();
          await seen.promise;
        }
        return ctx;
      });
      pipelines.mutate('toolCall.pre', (ctx) => {
        if (ctx.toolCall.args.text === 'late') seen.resolve([ctx.step.index, ctx.toolCatalog.length]);
        return ctx;
      });
    });
    const agent = await scriptedAgent({ ...callsTool, extensions: [late, old] });
    await agent.say('go');
    expect(await seen.promise).toEqual([0, 0]);
  });
});
