import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister, JsonValue, ToolContext, ToolHandler } from '@goondan/types';
import { callOneTool } from '../../testing/call-one-tool.ts';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';

interface Asked {
  readonly handler?: ToolHandler;
  readonly errorMessageLimit?: number;
  /** The arguments as the model writes them. */
  readonly args?: JsonValue;
  readonly register?: ExtensionRegister;
  readonly plan?: Partial<ScriptedAgentOptions>;
}

/** Calls the tool once and returns the result. The turn always continues after the call. */
async function callTool({ handler = () => null, errorMessageLimit, args = {}, register, plan }: Asked) {
  const exports = [{ name: 'do', description: 'Does it.' }];
  const limit = errorMessageLimit === undefined ? {} : { errorMessageLimit };
  const { result } = await callOneTool('thing__do', args, {
    tools: [{ name: 'thing', exports, handlers: { do: handler }, ...limit }],
    ...plan,
    ...(register && { extensions: [extension('changer', register)] }),
  });
  return result;
}

const failing = (thrown: unknown): ToolHandler => {
  return () => {
    throw thrown;
  };
};

describe('the result of a tool call', () => {
  test('C-08 a success has toolCallId, toolName, status and output', async () => {
    expect(await callTool({ handler: () => ({ tempC: 3 }) })).toEqual({
      toolCallId: 'call_1',
      toolName: 'thing__do',
      status: 'ok',
      output: { tempC: 3 },
    });
  });

  test('C-08 a failure has an error with name, message, code, suggestion and helpUrl', async () => {
    const thrown = Object.assign(new RangeError('no such city'), {
      code: 'E_CITY',
      suggestion: 'Ask for another one.',
      helpUrl: 'docs/cities.md',
    });
    expect(await callTool({ handler: failing(thrown) })).toEqual({
      toolCallId: 'call_1',
      toolName: 'thing__do',
      status: 'error',
      error: {
        name: 'RangeError',
        message: 'no such city',
        code: 'E_CITY',
        suggestion: 'Ask for another one.',
        helpUrl: 'docs/cities.md',
      },
    });
  });

  test.each<[string, unknown, string]>([
    ['an error without a code', new Error('broken'), 'broken'],
    ['a text', 'broken', 'broken'],
    ['nothing', undefined, 'undefined'],
    ['an object', { reason: 'broken' }, '{"reason":"broken"}'],
  ])('C-08 a handler that throws %s gives E_TOOL_FAILED', async (_title, thrown, message) => {
    expect(await callTool({ handler: failing(thrown) })).toMatchObject({
      status: 'error',
      error: { code: 'E_TOOL_FAILED', message },
    });
  });

  test('C-08 a handler that rejects counts as one that throws', async () => {
    expect(await callTool({ handler: () => Promise.reject(new Error('later')) })).toMatchObject({
      status: 'error',
      error: { code: 'E_TOOL_FAILED', message: 'later' },
    });
  });

  test.each([
    ['the policy', { plan: { policy: { errorMessageLimit: 50 } } }],
    ['the tool itself', { errorMessageLimit: 50, plan: { policy: { errorMessageLimit: 10 } } }],
  ])("an error's message is cut to the limit of %s", async (_title, limited) => {
    const result = await callTool({ ...limited, handler: failing(new Error('x'.repeat(51))) });
    expect(result.error?.message).toBe(`${'x'.repeat(49)}…`);
    const whole = await callTool({ ...limited, handler: failing(new Error('x'.repeat(50))) });
    expect(whole.error?.message).toBe('x'.repeat(50));
  });

  test('an error is masked before it is cut, so that no part of a secret remains', async () => {
    const secret = 'sk-live-0123456789';
    const thrown = Object.assign(new Error(`${'x'.repeat(40)} ${secret}`), {
      suggestion: `Do not use ${secret}.`,
      helpUrl: `https://example.com/?key=${secret}`,
    });
    const result = await callTool({
      handler: failing(thrown),
      plan: { secrets: [secret], policy: { errorMessageLimit: 50 } },
    });
    expect(result.error).toMatchObject({ message: `${'x'.repeat(40)} ***`, suggestion: 'Do not use ***.' });
    expect(JSON.stringify(result)).not.toContain('sk-live');
  });

  test('the name of an error is masked, also when a layer throws it', async () => {
    const secret = 'sk-live-0123456789';
    const thrown = Object.assign(new Error('no'), { name: `Refused ${secret}` });
    const register = layerOf('toolCall', () => Promise.reject(thrown));
    const result = await callTool({ register, plan: { secrets: [secret] } });
    expect(result.error).toMatchObject({ name: 'Refused ***', message: 'no' });
  });

  test('P-12 a layer that throws gives the error result of its call, with the thrown code', async () => {
    const register = layerOf('toolCall', () => Promise.reject(Object.assign(new Error('no'), { code: 'E_DENIED' })));
    expect(await callTool({ register })).toMatchObject({ status: 'error', error: { code: 'E_DENIED', message: 'no' } });
  });
});

describe('the return value of a handler', () => {
  test.each<[string, ToolHandler, JsonValue]>([
    ['undefined becomes null', () => undefined, null],
    ['a promise of undefined becomes null', async () => undefined, null],
    ['a text stays a text', () => 'hello', 'hello'],
    ['a promise is awaited', async () => [1, 'two', { three: null }], [1, 'two', { three: null }]],
    // JSON.stringify leaves such a field out, and so does the runtime.
    ['a field that is undefined is left out', () => ({ a: 1, b: undefined }) as unknown as JsonValue, { a: 1 }],
  ])('C-12 %s', async (_title, handler, output) => {
    const result = await callTool({ handler });
    expect(result.status).toBe('ok');
    expect(result.output).toStrictEqual(output);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  test.each<[unknown, string]>([
    [() => 1, 'the value is a function, which JSON cannot represent'],
    [{ when: new Date(0) }, 'when is a Date, not a plain object'],
    [[1, Number.NaN], '[1] is NaN, which JSON cannot represent'],
    [new Map(), 'the value is a Map, not a plain object'],
    [{ big: 1n }, 'big is a bigint, which JSON cannot represent'],
    [Symbol('x'), 'the value is a symbol, which JSON cannot represent'],
    [cycle, 'self is part of a cycle'],
  ])('C-12 a value that is not JSON gives an error result: %#', async (returned, problem) => {
    // The cast imitates a handler that ignores the types.
    const handler = (() => returned) as ToolHandler;
    const result = await callTool({ handler });
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'E_TOOL_OUTPUT', message: `"thing__do" returned no JSON: ${problem}.` },
    });
    expect(result).not.toHaveProperty('output');
  });

  test('is copied: a handler that changes its output later does not change the conversation', async () => {
    const kept = { list: [1] };
    const result = await callTool({ handler: () => kept });
    kept.list.push(2);
    expect(result.output).toEqual({ list: [1] });
  });
});

describe('the arguments of a handler', () => {
  async function contextOf(plan: Partial<ScriptedAgentOptions> = {}, use?: (ctx: ToolContext) => unknown) {
    const seen: ToolContext[] = [];
    const handler: ToolHandler = async (ctx) => {
      seen.push(ctx);
      await use?.(ctx);
    };
    await callTool({ handler, plan: { agentName: 'coder', instanceKey: 'default', workdir: '/some/where', ...plan } });
    return seen[0] as ToolContext;
  }

  test('C-12 the context has the execution context, toolCallId, message, workdir, logger, signal and agents', async () => {
    expect(await contextOf()).toMatchObject({
      agentName: 'coder',
      instanceKey: 'default',
      turnId: 'turn-event-1',
      traceId: 'trace-1',
      toolCallId: 'call_1',
      message: { data: { role: 'assistant' }, source: { type: 'assistant', stepId: 'turn-event-1.step-0' } },
      workdir: '/some/where',
      logger: { info: expect.any(Function) },
      signal: expect.any(AbortSignal),
      agents: { request: expect.any(Function), send: expect.any(Function) },
    });
  });

  test('C-12 message is the assistant message that made the call', async () => {
    const { message } = await contextOf();
    expect(message?.data.content).toEqual([
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'thing__do', input: {} },
    ]);
  });

  test.each(['agentName', 'toolCallId', 'workdir', 'config', 'signal', 'agents'])(
    'C-05 ctx.%s is readonly',
    async (field) => {
      const ctx = await contextOf();
      expect(Reflect.set(ctx, field, 'changed')).toBe(false);
      expect(ctx).not.toHaveProperty(field, 'changed');
    },
  );

  test('config is the tool’s config of the plan, and empty when there is none', async () => {
    expect((await contextOf()).config).toEqual({});
    const config = { root: '/a', deep: { list: [1] } };
    const seen: unknown[] = [];
    const handler: ToolHandler = (ctx) => {
      seen.push(structuredClone(ctx.config));
      ctx.config.root = 'changed';
    };
    const agent = await scriptedAgent({
      script: [{ when: 'go', calls: [{ tool: 'thing__do' }, { tool: 'thing__do' }] }, { say: 'done' }],
      tools: [{ name: 'thing', exports: [{ name: 'do', description: 'Does it.' }], handlers: { do: handler }, config }],
    });
    await agent.say('go');
    // Each call got its own copy, so the second call saw the unchanged config.
    expect(seen).toEqual([config, config]);
  });

  test('C-12 the input is the arguments of the call', async () => {
    const inputs: unknown[] = [];
    await callTool({ args: { city: 'Seoul' }, handler: (_ctx, input) => void inputs.push(input) });
    expect(inputs).toEqual([{ city: 'Seoul' }]);
  });

  test('C-12 the signal aborts when the call runs out of time, and the result says so', async () => {
    const reasons: unknown[] = [];
    const handler: ToolHandler = (ctx) =>
      new Promise(() => ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason)));
    const result = await callTool({ handler, plan: { policy: { toolTimeoutMs: 5 } } });
    expect(result.error).toMatchObject({ code: 'E_TOOL_TIMEOUT', message: '"thing__do" ran longer than 5 ms.' });
    expect(reasons).toEqual([expect.objectContaining({ code: 'E_TOOL_TIMEOUT' })]);
  });
});
