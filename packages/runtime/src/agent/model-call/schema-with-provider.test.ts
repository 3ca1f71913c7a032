/** Tests answers with a schema against servers with the wire formats of all providers: what is sent, and the retries. */
import { describe, expect, test } from 'bun:test';
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { scriptedAgent } from '../../testing/index.ts';
import { openAt } from '../model/providers/wire/ask-model.ts';
import {
  anthropicCase,
  compatibleCase,
  googleCase,
  openaiCase,
  type ProviderCase,
} from '../model/providers/wire/provider-cases.ts';
import type { WireReply } from '../model/providers/wire/wire-dialect.ts';
import { startWireServer } from '../model/providers/wire/wire-server.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, tempC: { type: 'number' } },
  required: ['city', 'tempC'],
  additionalProperties: false,
};
const usage = { input: 10, output: 5, cached: 0 };
const right = { city: 'Seoul', tempC: 21 };
const wrong = { city: 'Seoul', tempC: 'warm' };
const textReply = (value: JsonValue): WireReply => ({ usage, text: ['', JSON.stringify(value)] });
let calls = 0;
const finishReply = (args: JsonObject): WireReply => ({
  usage,
  calls: [{ id: `call-${++calls}`, name: 'output__finish', args }],
});
const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.' }],
  handlers: { get: () => 'sunny' },
};

interface Asked {
  readonly provider: ProviderCase;
  readonly replies: readonly WireReply[];
  readonly options?: JsonObject;
  readonly demanded?: JsonSchema;
  readonly tools?: readonly ToolDeclaration[];
}

async function ask({ provider, replies, options = {}, demanded = schema, tools = [] }: Asked) {
  await using server = startWireServer(provider.dialect);
  server.answer(...replies.map((reply) => ({ reply })));
  const model = openAt(server.url, provider, options);
  const agent = await scriptedAgent({ model, tools, output: { schema: demanded } });
  const { result, stepCount } = await agent.say('How warm is it?');
  return { result, stepCount, bodies: server.requests.map(({ body }) => body) };
}

const asObject = (value: JsonValue | undefined): JsonObject => Object(value) as JsonObject;

/** Where each provider has the schema of an answer in its request, and what it has there. */
const natives: readonly (readonly [string, ProviderCase, (body: JsonObject) => JsonValue | undefined, JsonValue])[] = [
  ['anthropic', anthropicCase, (body) => asObject(body['output_config'])['format'], { type: 'json_schema', schema }],
  [
    'google',
    googleCase,
    ({ generationConfig }) => {
      const { responseMimeType = null, responseJsonSchema = null } = asObject(generationConfig);
      return { responseMimeType, responseJsonSchema };
    },
    { responseMimeType: 'application/json', responseJsonSchema: schema },
  ],
  [
    'openai',
    openaiCase,
    (body) => body['response_format'],
    { type: 'json_schema', json_schema: { schema, strict: true, name: 'response' } },
  ],
  [
    'openai-compatible',
    compatibleCase,
    (body) => body['response_format'],
    { type: 'json_schema', json_schema: { schema, strict: true, name: 'response' } },
  ],
];
/** A server that is only compatible may not have the mode, so its model must say so. */
const optionsOf = ({ provider }: ProviderCase): JsonObject =>
  provider === 'openai-compatible' ? { schemaMode: 'native' } : {};

describe.each(natives)('%s', (_name, provider, readNative, expected) => {
  test.each([true, false])(
    'Y-01 gets the schema in its own form, and the answer is right at once (stream: %p)',
    async (stream) => {
      const options = { ...optionsOf(provider), stream };
      const { result, stepCount, bodies } = await ask({ provider, replies: [textReply(right)], options });
      expect([result.output, result.finishReason, stepCount]).toEqual([right, 'text_response', 1]);
      expect(bodies.map(readNative)).toEqual([expected]);
      expect(bodies[0]).not.toHaveProperty('tools');
    },
  );

  test('Y-01 is right after two wrong answers, and gets the problems of each', async () => {
    const replies = [textReply(wrong), textReply(wrong), textReply(right)];
    const { result, stepCount, bodies } = await ask({ provider, replies, options: optionsOf(provider) });
    expect([result.output, stepCount]).toEqual([right, 3]);
    expect(bodies.map(readNative)).toEqual([expected, expected, expected]);
    const told = bodies.map((body) => JSON.stringify(provider.messages(body)).split('tempC must be number').length - 1);
    expect(told).toEqual([0, 1, 2]);
  });

  test('Y-01 is never right: E_OUTPUT_SCHEMA after two retries', async () => {
    const { result, bodies } = await ask({ provider, replies: [textReply(wrong)], options: optionsOf(provider) });
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_OUTPUT_SCHEMA' } });
    expect(bodies).toBeArrayOfSize(3);
  });

  test('Y-01 with `schemaMode: tool` gets output__finish instead, and its answer is checked the same way', async () => {
    const replies = [finishReply(wrong), finishReply(right)];
    const { result, stepCount, bodies } = await ask({ provider, replies, options: { schemaMode: 'tool' } });
    expect([result.output, stepCount]).toEqual([right, 2]);
    expect(readNative(bodies[0] ?? {})).not.toEqual(expected);
    expect(JSON.stringify(bodies[0]?.['tools'])).toContain('"output__finish"');
    expect(JSON.stringify(provider.messages(bodies[1] ?? {}))).toContain('tempC must be number');
    const never = await ask({ provider, replies: [finishReply(wrong)], options: { schemaMode: 'tool' } });
    expect(never.result.error?.code).toBe('E_OUTPUT_SCHEMA');
  });
});

const open: JsonSchema = { type: 'object', additionalProperties: { type: 'number' } };

test.each<[string, Omit<Asked, 'replies'>, 'native' | 'tool']>([
  ['anthropic, beside tools', { provider: anthropicCase, tools: [weather] }, 'native'],
  ['anthropic, a schema that its mode would change', { provider: anthropicCase, demanded: open }, 'tool'],
  ['anthropic, a model without the mode', { provider: { ...anthropicCase, model: 'claude-3-5-haiku-latest' } }, 'tool'],
  ['google, beside tools', { provider: googleCase, tools: [weather] }, 'tool'],
  [
    'google, a new model beside tools',
    { provider: { ...googleCase, model: 'gemini-3-pro-preview' }, tools: [weather] },
    'native',
  ],
  ['openai, beside tools', { provider: openaiCase, tools: [weather] }, 'native'],
  ['openai, a model without the mode', { provider: { ...openaiCase, model: 'gpt-4-turbo' } }, 'tool'],
  ['openai-compatible, which may not have the mode', { provider: compatibleCase }, 'tool'],
])('Y-01 %s', async (_title, asked, mode) => {
  const { result, bodies } = await ask({ ...asked, replies: [textReply(asked.demanded === open ? { a: 1 } : right)] });
  expect(result).toHaveProperty('output');
  const [body = {}] = bodies;
  expect(JSON.stringify(body['tools'] ?? []).includes('output__finish')).toBe(mode === 'tool');
  const find = natives.find(([name]) => name === asked.provider.provider)?.[2];
  expect(JSON.stringify(find?.(body) ?? null).includes('tempC')).toBe(mode === 'native');
});

test('Y-01 openai: a schema that its strict mode refuses is sent without it', async () => {
  const loose = { ...schema, required: ['city'] };
  const { bodies } = await ask({ provider: openaiCase, replies: [textReply(right)], demanded: loose });
  expect(bodies[0]?.['response_format']).toMatchObject({ json_schema: { schema: loose, strict: false } });
});
