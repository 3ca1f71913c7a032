import { describe, expect, test } from 'bun:test';
import type {
  ExtensionRegister,
  JsonObject,
  JsonValue,
  ToolCallError,
  ToolCallResult,
  ToolHandler,
} from '@goondan/types';
import { callOneTool } from '../../testing/call-one-tool.ts';
import { extension, type ScriptedAgentOptions } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

interface Asked {
  readonly args?: JsonValue;
  readonly tool?: string;
  readonly extensions?: readonly ExtensionRegister[];
  readonly plan?: Partial<ScriptedAgentOptions>;
}

/** Runs one tool call by the model, of `weather__get` by default. Returns the inputs of the handler and the result. */
async function ask({ args = { city: 'Seoul' }, tool = 'weather__get', extensions = [], plan }: Asked) {
  const inputs: JsonObject[] = [];
  const get: ToolHandler = (_ctx, input) => void inputs.push(input);
  const exports = [
    { name: 'get', description: 'The weather.', parameters },
    { name: 'any', description: 'Any weather.' },
  ];
  const called = await callOneTool(tool, args, {
    tools: [{ name: 'weather', exports, handlers: { get, any: get } }],
    ...plan,
    extensions: extensions.map((register, index) => extension(`layer-${index}`, register)),
  });
  return { ...called, inputs };
}

const setArgs = (args: JsonObject): ExtensionRegister =>
  layerOf('toolCall', (ctx) => {
    ctx.args = args;
    return ctx.next();
  });

const offer = (...names: string[]): ExtensionRegister =>
  layerOf('step', (ctx) => {
    ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => names.includes(name));
    return ctx.next();
  });

describe('the arguments of a call', () => {
  test('R-05 give an error result when they do not match the schema, and no handler runs', async () => {
    const { result, inputs } = await ask({ args: { town: 'Seoul' } });
    expect(result.error).toMatchObject({
      code: 'E_TOOL_ARGUMENTS',
      message: expect.stringContaining("must have required property 'city'"),
      suggestion: 'Call again with arguments that fit.',
    });
    expect(inputs).toEqual([]);
  });

  test('R-05 are checked after the last layer: a layer may repair them', async () => {
    const { result, inputs } = await ask({ args: { town: 'Seoul' }, extensions: [setArgs({ city: 'Seoul' })] });
    expect(result.status).toBe('ok');
    expect(inputs).toEqual([{ city: 'Seoul' }]);
  });

  test('R-05 are checked after the last layer: a layer may break them', async () => {
    const { result, inputs } = await ask({ extensions: [setArgs({ city: 7 })] });
    expect(result.error).toMatchObject({ code: 'E_TOOL_ARGUMENTS' });
    expect(inputs).toEqual([]);
  });

  test('are taken from the innermost layer that changed them', async () => {
    const { inputs } = await ask({ extensions: [setArgs({ city: 7 }), setArgs({ city: 'Busan' })] });
    expect(inputs).toEqual([{ city: 'Busan' }]);
  });

  test.each<[JsonValue]>([['Seoul'], [null], [['Seoul']], [7]])(
    'R-05 a model that writes %j instead of an object gets an error result, and layers see an empty object',
    async (args) => {
      const seen: JsonObject[] = [];
      const look = layerOf('toolCall', (ctx) => {
        seen.push(ctx.args);
        return ctx.next();
      });
      const { result, inputs } = await ask({ args, tool: 'weather__any', extensions: [look] });
      expect(result.error).toMatchObject({
        code: 'E_TOOL_ARGUMENTS',
        message: `The arguments of "weather__any" must be an object, not ${JSON.stringify(args)}.`,
      });
      expect(inputs).toEqual([]);
      expect(seen).toEqual([{}]);
    },
  );

  test('a layer may assign an object when the model wrote none', async () => {
    const { inputs } = await ask({ args: 'Seoul', extensions: [setArgs({ city: 'Seoul' })] });
    expect(inputs).toEqual([{ city: 'Seoul' }]);
  });

  test('P-08 a layer may also fill the empty object it sees when the model wrote none', async () => {
    const fill = layerOf('toolCall', (ctx) => {
      ctx.args.city = 'Seoul';
      return ctx.next();
    });
    const { inputs } = await ask({ args: 'Seoul', extensions: [fill] });
    expect(inputs).toEqual([{ city: 'Seoul' }]);
  });

  test('R-05 are refused when a layer put a value into them that is not JSON', async () => {
    // The layer makes a mistake that the types forbid.
    const broken = { city: new Date(0) } as unknown as JsonObject;
    const { result, inputs } = await ask({ tool: 'weather__any', extensions: [setArgs(broken)] });
    expect(result.error).toMatchObject({
      code: 'E_TOOL_ARGUMENTS',
      message: expect.stringContaining('city is a Date'),
    });
    expect(inputs).toEqual([]);
  });

  test('lose the fields that are undefined, as in JSON', async () => {
    const call = layerOf('turn', async (ctx) => {
      // Authors may pass undefined fields; the types do not prevent it.
      const args = { city: 'Jeju', days: undefined } as unknown as JsonObject;
      expect(await ctx.tools.call('weather__any', args)).toMatchObject({ status: 'ok' });
      return ctx.next();
    });
    const seen: JsonObject[] = [];
    const look = layerOf('toolCall', (ctx) => {
      seen.push(ctx.args);
      return ctx.next();
    });
    const { inputs } = await ask({ extensions: [call, look] });
    expect(inputs).toEqual([{ city: 'Jeju' }, { city: 'Seoul' }]);
    expect(seen).toEqual([{ city: 'Jeju' }, { city: 'Seoul' }]);
  });

  test('C-13 a tool without parameters accepts any object', async () => {
    const { inputs } = await ask({ tool: 'weather__any', args: { what: ['ever'] } });
    expect(inputs).toEqual([{ what: ['ever'] }]);
  });

  test('R-05 a schema that is not a JSON Schema gives an error result', async () => {
    const handlers = { get: () => null };
    const exports = [{ name: 'get', description: 'Odd.', parameters: { type: 'nonsense' } }];
    const { result } = await ask({ tool: 'odd__get', plan: { tools: [{ name: 'odd', exports, handlers }] } });
    expect(result.error).toMatchObject({ code: 'E_TOOL_SCHEMA', message: expect.stringContaining('tool "odd__get"') });
  });

  test('changes a handler makes to its input are not seen by others', async () => {
    const seen: JsonObject[] = [];
    const look = layerOf('toolCall', async (ctx) => {
      const result = await ctx.next();
      seen.push(ctx.args);
      return result;
    });
    const { inputs, agent } = await ask({ extensions: [look] });
    for (const input of inputs) input.city = 'changed';
    expect(seen).toEqual([{ city: 'Seoul' }]);
    expect(JSON.stringify(await agent.messages())).not.toContain('changed');
  });
});

test.each<[string, Partial<ToolCallResult>]>([
  ['no error', {}],
  // The types prevent it; JavaScript does not.
  ['an error without a message', { error: { code: 'E_CLOSED' } as ToolCallError }],
])('C-08 a layer may refuse a call with %s: the model gets a message', async (_title, more) => {
  const refuse = layerOf(
    'toolCall',
    async ({ toolCallId, toolName }) => ({ toolCallId, toolName, status: 'error', ...more }),
    { mayShortCircuit: true },
  );
  const { result, agent } = await ask({ extensions: [refuse] });
  const error = { ...more.error, message: '"weather__get" failed without giving a reason.' };
  expect(result).toMatchObject({ status: 'error', error });
  expect(JSON.stringify(await agent.messages())).toContain('failed without giving a reason');
  expect(agent.logs).toEqual([]);
});

test('C-08 a layer may add an error to a successful call: the call stays successful', async () => {
  const completed: unknown[] = [];
  const { result, agent, turn } = await ask({
    extensions: [
      ({ events }) => void events.on('tool.completed', (payload) => completed.push(payload)),
      layerOf('toolCall', async (ctx) => ({ ...(await ctx.next()), output: 3, error: { message: 'old data' } })),
    ],
  });
  expect(result).toMatchObject({ status: 'ok', output: 3, error: { message: 'old data' } });
  expect(completed).toEqual([expect.objectContaining({ status: 'ok' })]);
  expect(completed[0]).not.toHaveProperty('error');
  const traced = turn.trace?.inside[0]?.inside.find(({ kind }) => kind === 'toolCall');
  expect([traced?.outcome, traced?.error]).toEqual(['ok', undefined]);
  expect(JSON.stringify(await agent.messages())).toContain('"output":{"type":"json","value":3}');
});

describe('a tool that cannot be called', () => {
  test('R-05 because it does not exist gives an error result that lists the others', async () => {
    const { result } = await ask({ tool: 'weather__set' });
    expect(result).toMatchObject({
      toolCallId: 'call_1',
      toolName: 'weather__set',
      status: 'error',
      error: {
        code: 'E_TOOL_UNKNOWN',
        message: 'There is no tool "weather__set". Offered: weather__get, weather__any.',
      },
    });
  });

  test('R-05 because a layer removed it from the catalog gives an error result, and no handler runs', async () => {
    const { result, inputs } = await ask({ extensions: [offer('weather__any')] });
    expect(result.error).toMatchObject({
      code: 'E_TOOL_NOT_OFFERED',
      message: 'Tool "weather__get" is not offered in this step. Offered: weather__any.',
    });
    expect(inputs).toEqual([]);
  });

  test('R-05 when nothing is offered the message says so', async () => {
    const { result } = await ask({ extensions: [offer()] });
    expect(result.error?.message).toBe('Tool "weather__get" is not offered in this step. Offered: none.');
  });

  test('C-13 because a layer added it without a handler gives an error result', async () => {
    const add = layerOf('step', (ctx) => {
      ctx.toolCatalog = [...ctx.toolCatalog, { name: 'ghost__say', description: 'Boo.' }];
      return ctx.next();
    });
    const { result, agent } = await ask({ tool: 'ghost__say', extensions: [add] });
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toContain('ghost__say');
    expect(result.error).toMatchObject({
      code: 'E_TOOL_UNKNOWN',
      message: 'There is no tool "ghost__say". Offered: weather__get, weather__any.',
    });
  });

  test('C-13 becomes callable when a layer adds an item for a registered tool', async () => {
    const addBack = layerOf('step', (ctx) => {
      ctx.toolCatalog.push({ name: 'weather__get', description: 'Back again.' });
      return ctx.next();
    });
    const { result } = await ask({ extensions: [offer(), addBack] });
    expect(result.status).toBe('ok');
  });
});
