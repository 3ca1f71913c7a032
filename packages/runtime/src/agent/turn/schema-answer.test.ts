// Tests turns whose answer must fit a schema: the check, the retries, the tool `output__finish`, layers, crashes and replay.
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AssistantPart,
  createAssistantMessage,
  type JsonSchema,
  type JsonValue,
  type ModelReply,
  type OutputDemand,
  textOf,
} from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { interruptedStore, recordsOf } from '../../testing/turn-records.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import type { Model } from '../model/model-port.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, tempC: { type: 'number' } },
  required: ['city', 'tempC'],
  additionalProperties: false,
};
const output: OutputDemand = { schema };
const right = { city: 'Seoul', tempC: 21 };
const wrong = { city: 'Seoul', tempC: 'warm' };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const text = (words: string): AssistantPart => ({ type: 'text', text: words });
const json = (value: JsonValue) => text(JSON.stringify(value));
const finish = (input: JsonValue, toolCallId = 'c1'): AssistantPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'output__finish',
  input,
});
const reply = (...content: AssistantPart[]): ModelReply => ({ content, finishReason: 'stop', usage });
const cut = (...content: AssistantPart[]): ModelReply => ({ content, finishReason: 'length', usage });

/** Creates a model that returns these replies in order, and repeats the last one. It streams its texts. */
function modelOf(isNative: boolean, ...replies: [ModelReply, ...ModelReply[]]): Model {
  const left = [...replies];
  return {
    async generate(request) {
      const next = structuredClone((left.length > 1 ? left.shift() : left[0]) ?? replies[0]);
      for (const part of next.content) if (part.type === 'text') request.onDelta({ type: 'text', text: part.text });
      return next;
    },
    ...(isNative && { takesSchema: () => true }),
  };
}

const native = (...replies: [ModelReply, ...ModelReply[]]) => ({ model: modelOf(true, ...replies), output });
const byTool = (...replies: [ModelReply, ...ModelReply[]]) => ({ model: modelOf(false, ...replies), output });

async function say(options: ScriptedAgentOptions) {
  const agent = await scriptedAgent(options);
  const { result, stepCount, deltas } = await agent.say('go');
  return { agent, result, stepCount, deltas, said: textOf(result.responseMessage) };
}

describe('a model with a schema mode', () => {
  test('Y-01 gets the schema, and its answer is the output', async () => {
    const { agent, result, stepCount } = await say(native(reply(json(right))));
    expect(result).toMatchObject({ finishReason: 'text_response', output: right });
    expect(stepCount).toBe(1);
    expect(agent.requests[0]).toMatchObject({ outputSchema: schema, tools: [] });
  });

  test('Y-01 a wrong answer goes back with its problems, from the runtime, at most `retries` times', async () => {
    const { agent, result, stepCount } = await say(
      native(reply(json(wrong)), reply(text('Warm!')), reply(json(right))),
    );
    expect([result.output, stepCount]).toEqual([right, 3]);
    const messages = await agent.messages();
    expect(messages.map(({ data }) => data.role).join(' ')).toBe('user assistant user assistant user assistant');
    expect(messages[2]).toMatchObject({ source: { type: 'system' } });
    expect(messages[2]?.data.content).toContain('tempC must be number');
    expect(messages[4]?.data.content).toContain('the answer is not JSON');
    expect(agent.logs.map(({ event }) => event)).toEqual(['answer.refused', 'answer.refused']);
  });

  test('Y-01 an answer that never fits ends the turn with E_OUTPUT_SCHEMA and the problems', async () => {
    for (const [retries, calls] of [[undefined, 3] as const, [0, 1] as const, [1, 2] as const]) {
      const demand = { schema, ...(retries === undefined ? {} : { retries }) };
      const { agent, result } = await say({ ...native(reply(json(wrong))), output: demand });
      expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_OUTPUT_SCHEMA' } });
      expect(result.error?.message).toContain('tempC must be number');
      expect(result).not.toHaveProperty('output');
      expect(agent.requests).toBeArrayOfSize(calls);
      // The wrong answers are kept, and nothing asks for another one.
      expect((await agent.messages()).at(-1)?.data.role).toBe('assistant');
    }
  });

  test('Y-01 the demand of an event wins over the one of the agent', async () => {
    const agent = await scriptedAgent({ ...native(reply(json(['Seoul']))), output });
    const event = { output: { schema: { type: 'array', items: { type: 'string' } }, retries: 0 } };
    expect((await agent.say('go', { event })).result.output).toEqual(['Seoul']);
    expect((await agent.say('go')).result.error?.code).toBe('E_OUTPUT_SCHEMA');
  });

  test('Y-01 an event that demands a schema without retries has the retries of the agent', async () => {
    const stepsOf = async (ofAgent: number | undefined, ofEvent?: number) => {
      const own = { schema, ...(ofAgent !== undefined && { retries: ofAgent }) };
      const agent = await scriptedAgent({ model: modelOf(true, reply(json(wrong))), output: own });
      const event = { output: { schema: { type: 'array' }, ...(ofEvent !== undefined && { retries: ofEvent }) } };
      return (await agent.say('go', { event })).stepCount;
    };
    expect([await stepsOf(0), await stepsOf(4), await stepsOf(undefined), await stepsOf(4, 1)]).toEqual([1, 5, 3, 2]);
  });

  test('C-09 retries count as steps', async () => {
    const { result, stepCount } = await say({ ...native(reply(json(wrong))), policy: { maxStepsPerTurn: 2 } });
    expect([result.finishReason, stepCount]).toEqual(['max_steps', 2]);
    expect(result).not.toHaveProperty('output');
  });

  test('C-06 a turn without a demand has no output, whatever its answer is', async () => {
    const { result } = await say({ model: modelOf(true, reply(json(right))) });
    expect(result).not.toHaveProperty('output');
  });

  test.each<[string, ModelReply, string | undefined]>([
    ['JSON in a code fence', reply(text('```json\n{"city":"Seoul","tempC":21}\n```')), undefined],
    ['JSON after other text parts', reply(text('I looked it up.'), json(right)), undefined],
    ['a text around the JSON', reply(text('Here: {"city":"Seoul","tempC":21}')), 'the answer is not JSON'],
    ['no text', reply(text(' ')), 'the answer is empty'],
    ['an empty reply', reply(), 'the answer is empty'],
    ['a truncated reply, although its beginning fits', cut(json(right)), 'the reply reached its token limit'],
    ['JSON that is too deep', reply(text('['.repeat(300) + ']'.repeat(300))), 'the answer is nested too deep'],
    [
      'a number that is too large',
      reply(text('{"city":"Seoul","tempC":1e999}')),
      'tempC is a number that is too large: at most 1.7976931348623157e+308 is allowed',
    ],
    ['nothing but a number that is too large', reply(text('-1e999')), 'the answer is a number that is too large'],
  ])('Y-01 %s', async (_title, first, problem) => {
    const { agent, result, stepCount } = await say(native(first, reply(json(right))));
    expect([result.output, stepCount]).toEqual([right, problem === undefined ? 1 : 2]);
    if (problem !== undefined) expect((await agent.messages()).at(-2)?.data.content).toContain(problem);
  });

  test.each(['', 'model', 'step', 'turn'] as const)(
    'Y-01 no text of a wrong answer leaves the turn, with a layer that buffers: "%s"',
    async (kind) => {
      const buffers = extension('buffers', ({ pipeline }) => {
        if (kind !== '') pipeline.register(kind as 'step', (ctx) => ctx.next(), { buffers: true });
      });
      const { deltas } = await say({ ...native(reply(json(wrong)), reply(json(right))), extensions: [buffers] });
      expect(deltas).toMatchObject([{ type: 'text', text: JSON.stringify(right), stepIndex: 1 }]);
    },
  );
});

describe('a model without a schema mode', () => {
  const weather = (ran: string[]): ToolDeclaration => ({
    name: 'weather',
    exports: [{ name: 'get', description: 'The weather.' }],
    handlers: { get: () => void ran.push('weather') },
  });

  test('Y-01 gets the tool output__finish; its arguments are the output, and as JSON the response', async () => {
    const { agent, result, stepCount, said } = await say(byTool(reply(finish(right))));
    expect(result).toMatchObject({ finishReason: 'text_response', output: right });
    expect([JSON.parse(said), stepCount]).toEqual([right, 1]);
    const [request] = agent.requests;
    expect(request).not.toHaveProperty('outputSchema');
    expect(request?.tools.map(({ name, parameters }) => [name, parameters])).toEqual([['output__finish', schema]]);
    const messages = await agent.messages();
    expect(messages.map(({ data }) => data.role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(result.responseMessage?.id).toBe(messages.at(-1)?.id ?? '');
  });

  test('Y-01 other calls of the same reply run first', async () => {
    const ran: string[] = [];
    const seen: string[] = [];
    const watch = beforeNext('watch', 'toolCall', (ctx) => seen.push(ctx.toolName));
    const other: AssistantPart = { type: 'tool-call', toolCallId: 'c2', toolName: 'weather__get', input: {} };
    const { result, stepCount } = await say({
      ...byTool(reply(finish(right), other)),
      tools: [weather(ran)],
      extensions: [watch],
    });
    expect([result.output, stepCount, ran]).toEqual([right, 1, ['weather']]);
    // P-19: the toolCall chain sees the call like any other.
    expect(seen).toEqual(['weather__get', 'output__finish']);
  });

  test('Y-01 arguments that do not fit are a result with the problems, and count as wrong answers', async () => {
    const { agent, result, stepCount } = await say(
      byTool(reply(finish(wrong)), reply(finish(wrong)), reply(finish(right))),
    );
    expect([result.output, stepCount]).toEqual([right, 3]);
    expect(JSON.stringify(agent.requests[1]?.messages.at(-1))).toContain('tempC must be number');
    const { result: never } = await say(byTool(reply(finish(wrong))));
    expect(never.error?.code).toBe('E_OUTPUT_SCHEMA');
  });

  test('Y-01 a call that may be incomplete is a wrong answer', async () => {
    const { result } = await say({ ...byTool(cut(finish(right))), output: { schema, retries: 0 } });
    expect(result.error).toMatchObject({
      code: 'E_OUTPUT_SCHEMA',
      message: expect.stringContaining('limit of tokens'),
    });
  });

  test('Y-01 an answer in text counts if it fits', async () => {
    const { result } = await say(byTool(reply(text('It is warm.')), reply(json(right))));
    expect(result.output).toEqual(right);
  });

  test('Y-01 the refusal of a layer is a result, the loop goes on, and no retry is used up', async () => {
    let refusals = 3;
    const guard = beforeNext('guard', 'toolCall', () => {
      if (refusals-- > 0) throw new Error('Look again.');
    });
    const { agent, result, stepCount } = await say({
      ...byTool(reply(finish(right))),
      output: { schema, retries: 0 },
      extensions: [guard],
    });
    expect([result.output, stepCount]).toEqual([right, 4]);
    expect(JSON.stringify(agent.requests[1]?.messages.at(-1))).toContain('Look again.');
  });

  test('Y-01 an answer that is not an object is wrapped in the arguments, with its references', async () => {
    const list = {
      type: 'array',
      items: { $ref: '#/definitions/city' },
      definitions: { city: { type: 'string', minLength: 2 } },
    };
    const demand = { schema: list, retries: 0 };
    const { agent, result, said } = await say({ ...byTool(reply(finish({ value: ['Seoul'] }))), output: demand });
    expect([result.output, said]).toEqual([['Seoul'], '["Seoul"]']);
    expect(agent.requests[0]?.tools[0]?.parameters).toMatchObject({
      properties: { value: { items: { $ref: '#/properties/value/definitions/city' } } },
    });
    const { result: bad } = await say({ ...byTool(reply(finish({ value: ['S'] }))), output: demand });
    expect(bad.error?.message).toContain('value.0 must NOT have fewer than 2 characters');
    // A schema mode is only for objects.
    const { agent: other } = await say({ ...native(reply(finish({ value: ['Seoul'] }))), output: demand });
    expect(other.requests[0]?.tools).toBeArrayOfSize(1);
  });

  test.each(['enum', 'const', 'default', 'examples'])(
    'Y-01 references are followed also below a field or a definition called "%s"',
    async (name) => {
      const reference = { $ref: '#/definitions/city' };
      const list: JsonSchema = {
        type: 'array',
        items: { $ref: `#/definitions/${name}` },
        definitions: { [name]: { properties: { [name]: reference } }, city: { type: 'string' } },
      };
      const demand = { schema: list, retries: 0 };
      const answer = [{ [name]: 'Seoul' }];
      const { result } = await say({ ...byTool(reply(finish({ value: answer }))), output: demand });
      expect(result.output).toEqual(answer);
      const { result: bad } = await say({ ...byTool(reply(finish({ value: [{ [name]: 1 }] }))), output: demand });
      expect(bad.error?.code).toBe('E_OUTPUT_SCHEMA');
    },
  );

  test('Y-01 those who watch get the answer, and not the words before it', async () => {
    const { deltas } = await say(byTool(reply(text('Let me see. '), finish(right))));
    expect(deltas).toMatchObject([{ type: 'text', text: JSON.stringify(right) }]);
  });

  test('Y-01 the name of the tool is reserved', async () => {
    const taken = {
      name: 'output',
      exports: [{ name: 'finish', description: 'Mine.' }],
      handlers: { finish: () => 1 },
    };
    expect(await scriptedAgent({ tools: [taken] }).catch((error: unknown) => error)).toMatchObject({
      code: 'E_TOOL_NAME',
    });
    const adds = beforeNext('adds', 'step', (ctx) =>
      ctx.toolCatalog.push({ name: 'output__finish', description: 'Mine.' }),
    );
    const { result } = await say({ ...byTool(reply(finish(right))), extensions: [adds] });
    expect(result.error?.code).toBe('E_TOOL_NAME');
  });

  test('Y-01 an output that a layer returns has no effect, also if none is demanded', async () => {
    const adds = oneLayer('adds', 'turn', async (ctx) => ({ ...(await ctx.next()), output: 'mine' }));
    const demanded = await say({ ...byTool(reply(finish(right))), extensions: [adds] });
    const free = await say({ model: modelOf(false, reply(text('So.'))), extensions: [adds] });
    expect([demanded.result.output, free.result.output]).toEqual([right, undefined]);
  });

  test('Y-01 only the model gives the answer, and only if one is demanded', async () => {
    const results: unknown[] = [];
    const layer = beforeNext('layer', 'step', async (ctx) => {
      results.push((await ctx.tools.call('output__finish', right)).error?.code);
    });
    const { result } = await say({ ...byTool(reply(finish(right))), extensions: [layer] });
    expect([result.output, results]).toEqual([right, ['E_TOOL_UNKNOWN']]);
    const { agent } = await say({ model: modelOf(false, reply(finish(right)), reply(text('So.'))) });
    expect(JSON.stringify(agent.requests[1]?.messages.at(-1))).toContain('E_TOOL_UNKNOWN');
  });
});

test.each([true, false])('Y-01 no secret in a schema reaches the model (native: %p)', async (isNative) => {
  const secretive = { ...schema, description: 'Use the key sk-canary-123.' };
  const answer = isNative ? json(right) : finish(right);
  const model = modelOf(isNative, reply(answer));
  const { agent, result } = await say({ model, output: { schema: secretive }, secrets: ['sk-canary-123'] });
  expect(result.output).toEqual(right);
  expect(JSON.stringify(agent.requests)).toContain('Use the key');
  expect(JSON.stringify(agent.requests)).not.toContain('sk-canary-123');
});

describe('layers', () => {
  const changing = (kind: 'model' | 'toolCall' | 'turn', value: JsonValue) =>
    extension('changes', ({ pipeline }) => {
      if (kind === 'model') {
        pipeline.register('model', async (ctx) => ({ ...(await ctx.next()), content: [json(value)] }));
      }
      if (kind === 'toolCall') {
        pipeline.register('toolCall', async ({ toolCallId, toolName, ...ctx }) => {
          await ctx.next();
          return { toolCallId, toolName, status: 'ok', output: value };
        });
      }
      if (kind === 'turn') {
        pipeline.register('turn', async (ctx) => {
          const responseMessage = createAssistantMessage(JSON.stringify(value));
          return { ...(await ctx.next()), responseMessage };
        });
      }
    });

  test.each(['model', 'toolCall', 'turn'] as const)(
    'Y-01 the answer that a %s layer returned is checked',
    async (kind) => {
      const answer = reply(kind === 'toolCall' ? finish(right) : json(right));
      const other = { city: 'Busan', tempC: 3 };
      const run = (value: JsonValue) =>
        say({ model: modelOf(kind !== 'toolCall', answer), output, extensions: [changing(kind, value)] });
      expect((await run(other)).result.output).toEqual(other);
      expect((await run(wrong)).result.error?.code).toBe('E_OUTPUT_SCHEMA');
    },
  );

  test('Y-01 a layer that changes the arguments of output__finish changes the answer', async () => {
    const adds = beforeNext('adds', 'toolCall', (ctx) => {
      ctx.args = { ...ctx.args, tempC: 5 };
    });
    const { result } = await say({ ...byTool(reply(finish(wrong))), extensions: [adds] });
    expect(result.output).toEqual({ city: 'Seoul', tempC: 5 });
  });

  test('Y-01 the tool is offered even if a layer chooses other tools, and a model chosen by a layer decides', async () => {
    const hides = extension('hides', ({ pipeline }) => {
      pipeline.register('step', (ctx) => {
        ctx.toolCatalog = [];
        return ctx.next();
      });
      pipeline.register('model', (ctx) => {
        ctx.modelRef = 'Model/other';
        return ctx.next();
      });
    });
    const schemas: unknown[] = [];
    const other: Model = {
      takesSchema: () => true,
      generate: async ({ outputSchema, tools }) => {
        schemas.push([outputSchema, tools.length]);
        return reply(json(right));
      },
    };
    const models = { 'Model/scripted': modelOf(false, reply(finish(right))), 'Model/other': other };
    const agent = await scriptedAgent({ models, output, extensions: [hides] });
    expect((await agent.say('go')).result.output).toEqual(right);
    expect(schemas).toEqual([[schema, 0]]);
  });
});

describe('a turn with a schema, later', () => {
  const answers = {
    native: [reply(json(wrong)), reply(json(wrong)), reply(json(right))],
    byTool: [reply(finish(wrong, 'c1')), reply(finish(wrong, 'c2')), reply(finish(right, 'c3'))],
  } as const;

  test.each(['native', 'byTool'] as const)(
    'Y-01 resumed after every record (%s): the wrong answers count once',
    async (mode) => {
      const [first, second, third] = answers[mode];
      const records = await recordsOf({ model: modelOf(mode === 'native', first, second, third), output });
      for (let kept = 1; kept <= records.length; kept += 1) {
        const store = await interruptedStore(records.slice(0, kept));
        const asked = records
          .slice(0, kept)
          .filter((record) => record.type === 'effect' && record.kind === 'model').length;
        const left = [first, second, third].slice(asked);
        const model = modelOf(mode === 'native', ...(left as [ModelReply]), reply(text('One too many.')));
        const { result, agent } = await say({ model, output, store });
        expect([kept, result.output, agent.requests.length]).toEqual([kept, right, left.length]);
      }
      // Without a retry left, the resumed turn ends as the first run would.
      const last = records.findLastIndex((record) => record.type === 'step' && record.problems !== undefined);
      const store = await interruptedStore(records.slice(0, last + 1));
      const { result, agent } = await say({ model: modelOf(true, third), output: { schema, retries: 1 }, store });
      expect(result.error).toMatchObject({ code: 'E_OUTPUT_SCHEMA', message: expect.stringContaining('tempC') });
      expect(agent.requests).toEqual([]);
    },
  );

  test('Y-01 the same event again returns the output, from the disk', async () => {
    const stateRoot = mkdtempSync(join(tmpdir(), 'schema-'));
    const ask = async () => {
      const store = await durableStore({ stateRoot, workspaceId: 'w' });
      const { result } = await say({ ...native(reply(json(right))), store });
      await store.close();
      return result;
    };
    const first = await ask();
    expect(first.output).toEqual(right);
    expect(await ask()).toEqual(first);
    rmSync(stateRoot, { recursive: true });
  });

  test.each(['native', 'byTool'] as const)(
    'Y-01 a replay behaves the same, and asks no model whether it takes the schema (%s)',
    async (mode) => {
      const [first, second, third] = answers[mode];
      const watch = extension('watch', ({ pipeline }) => {
        pipeline.register('turn', (ctx) => ctx.next());
        pipeline.register('step', (ctx) => ctx.next());
      });
      const model = modelOf(mode === 'native', first, second, third);
      const plan = { agentName: 'tested', models: { 'Model/m': model }, output, extensions: [watch] };
      const { start, result } = await recordInMemory(plan, ['go']);
      expect(result.output).toEqual(right);
      let asked = 0;
      const other: Model = { ...model, takesSchema: () => (asked += 1) > 0 && mode !== 'native' };
      const outcome = await replayTurn({ ...plan, models: { 'Model/m': other } }, start);
      expect(outcome).toMatchObject({ others: 0, steps: 3, served: { model: 3 } });
      expect(outcome).not.toHaveProperty('first');
      expect(asked).toBe(0);
    },
  );
});
