/**
 * Compares our prompt with the prompt of the AI SDK, for the same messages. A model that only records its input shows
 * the SDK's prompt. The compiler is part of the test, because our messages are passed to the SDK without a cast.
 *
 * The tests name each intended difference: moved system messages, empty messages, and images in answers. We read the
 * type of an image from its bytes, in answers as in questions, but the SDK trusts the declared type.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type {
  AssistantModelMessage,
  AssistantPart,
  JsonValue,
  ModelMessage,
  ProviderOptions,
  ToolModelMessage,
  ToolResultOutput,
  ToolResultPart,
} from '@goondan/types';
import { generateText, type ModelMessage as SdkMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import fc from 'fast-check';
import { samples } from '../../../../../../test/samples.ts';
import { toPrompt } from './to-prompt.ts';

// Warnings are turned off, because the SDK warns about image parts, which our messages keep using.
beforeAll(() => void (globalThis.AI_SDK_LOG_WARNINGS = false));
afterAll(() => void (globalThis.AI_SDK_LOG_WARNINGS = undefined));

const png = 'iVBORw0KGgoAAAANSUhEUg==';
const jpeg = '/9j/4AAQSkZJRg==';

/** The content of tool results has our own parts, which the SDK does not have. */
type ComparableResult = Omit<ToolResultPart, 'output'> & { output: Exclude<ToolResultOutput, { type: 'content' }> };
type ComparableMessage =
  | Exclude<ModelMessage, { role: 'tool' | 'assistant' }>
  | (Omit<ToolModelMessage, 'content'> & { content: ComparableResult[] })
  | (Omit<AssistantModelMessage, 'content'> & {
      content: string | (Exclude<AssistantPart, { type: 'tool-result' }> | ComparableResult)[];
    });

/** This function is a compile-time test: every message here is also a message for the SDK. */
const asSdkMessages = (messages: ComparableMessage[]): SdkMessage[] => messages;

async function sdkPrompt(messages: ModelMessage[]): Promise<LanguageModelV4Prompt> {
  const model = new MockLanguageModelV4({
    // Without this setting the SDK would download the files.
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: {
      content: [{ type: 'text', text: 'ok' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  });
  await generateText({
    model,
    messages: asSdkMessages(messages as ComparableMessage[]),
    allowSystemInMessages: true,
    maxRetries: 0,
  });
  return model.doGenerateCalls[0]?.prompt ?? [];
}

const cache: ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const call = (id: string): ModelMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: 'weather__get', input: { city: 'Seoul' } }],
});
const result = (id: string, output: ToolResultOutput, providerOptions?: ProviderOptions): ModelMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'weather__get', output }],
  ...(providerOptions !== undefined && { providerOptions }),
});

const table: [string, ModelMessage[]][] = [
  ['a question', [{ role: 'user', content: 'Hi' }]],
  [
    'a system prompt with options',
    [
      { role: 'system', content: 'Be brief.', providerOptions: cache },
      { role: 'user', content: 'Hi' },
    ],
  ],
  [
    'a system message in the middle',
    [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'So?' },
    ],
  ],
  [
    'text parts, one of them empty',
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi', providerOptions: cache },
        ],
      },
    ],
  ],
  [
    'an image with the wrong type',
    [{ role: 'user', content: [{ type: 'image', image: png, mediaType: 'image/jpeg' }] }],
  ],
  ['a picture without a type', [{ role: 'user', content: [{ type: 'image', image: jpeg }] }]],
  ['a picture by data URL', [{ role: 'user', content: [{ type: 'image', image: `data:image/png;base64,${png}` }] }]],
  [
    'a picture by URL',
    [{ role: 'user', content: [{ type: 'image', image: 'https://a.example/b.png', mediaType: 'image/png' }] }],
  ],
  [
    'a document',
    [{ role: 'user', content: [{ type: 'file', data: 'JVBERi0x', mediaType: 'application/pdf', filename: 'a.pdf' }] }],
  ],
  [
    'a document by data URL',
    [{ role: 'user', content: [{ type: 'file', data: 'data:text/plain;base64,SGk=', mediaType: 'application/pdf' }] }],
  ],
  [
    'an answer with everything in it',
    [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
          { type: 'text', text: '' },
          { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 's' } } },
          { type: 'text', text: 'Hello.' },
          { type: 'file', data: png, mediaType: 'image/png' },
          { type: 'custom', kind: 'anthropic.fallback', providerOptions: { anthropic: { type: 'fallback' } } },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'web_search', input: { q: 'x' }, providerExecuted: true },
          { type: 'tool-result', toolCallId: 'c1', toolName: 'web_search', output: { type: 'json', value: [] } },
        ],
        providerOptions: cache,
      },
    ],
  ],
  [
    'each kind of result, in messages of their own, with options',
    [
      { role: 'user', content: 'Hi' },
      ...['1', '2', '3', '4', '5'].map(call),
      result('1', { type: 'text', value: 'sunny' }, cache),
      result('2', { type: 'json', value: { tempC: [1, null] } }),
      result('3', { type: 'error-text', value: 'no' }, { openai: { x: 1 } }),
      result('4', { type: 'error-json', value: { code: 'E' }, providerOptions: cache }),
      result('5', { type: 'execution-denied', reason: 'not allowed' }, cache),
      { role: 'user', content: 'So?' },
    ],
  ],
  [
    'an answer in one string',
    [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ],
  ],
];

describe('our prompt is the one the AI SDK writes', () => {
  test.each(table)('for %s', async (_what, messages) => {
    expect(comparable(toPrompt(messages, 'in-place', new WeakMap()))).toEqual(comparable(await sdkPrompt(messages)));
  });

  test('for any conversation', async () => {
    await fc.assert(
      fc.asyncProperty(conversation(), async (messages) => {
        expect(comparable(toPrompt(messages, 'in-place', new WeakMap()))).toEqual(
          comparable(await sdkPrompt(messages)),
        );
      }),
      { numRuns: samples(300) },
    );
  });

  test('for any conversation with its system messages first, when the provider wants them there', async () => {
    await fc.assert(
      fc.asyncProperty(conversation(), async (messages) => {
        const isSystem = (message: ModelMessage) => message.role === 'system';
        const moved = [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))];
        expect(comparable(toPrompt(messages, 'front', new WeakMap()))).toEqual(comparable(await sdkPrompt(moved)));
      }),
      { numRuns: samples(150) },
    );
  });
});

/**
 * Converts a prompt for the comparison: to JSON, so that an absent field equals an `undefined` one, and without the
 * empty messages that we leave out.
 */
function comparable(prompt: LanguageModelV4Prompt): unknown[] {
  return prompt.filter(({ content }) => content.length > 0).map((message) => JSON.parse(JSON.stringify(message)));
}

/** Generates questions, answers and tool calls with all their results, as `toLlmMessages` returns them. */
function conversation(): fc.Arbitrary<ModelMessage[]> {
  const text = fc.string({ minLength: 1, maxLength: 20 });
  const options = fc.option(fc.constantFrom(cache, { openai: { a: 1 } }, { google: { thoughtSignature: 's' } }));
  const withOptions = <Part extends object>(part: fc.Arbitrary<Part>): fc.Arbitrary<Part> =>
    fc.tuple(part, options).map(([value, chosen]) => (chosen === null ? value : { ...value, providerOptions: chosen }));
  const data = fc.constantFrom(png, jpeg, 'AAAA', `data:image/gif;base64,R0lGODlh`, 'https://x.example/y');

  const words = withOptions(fc.oneof(text, fc.constant('')).map((value) => ({ type: 'text' as const, text: value })));
  const image = withOptions(data.map((value) => ({ type: 'image' as const, image: value, mediaType: 'image/png' })));
  const file = withOptions(data.map((value) => ({ type: 'file' as const, data: value, mediaType: 'application/pdf' })));
  const answerFile = withOptions(fc.constant({ type: 'file' as const, data: 'AAAA', mediaType: 'application/pdf' }));
  const reasoning = withOptions(text.map((value) => ({ type: 'reasoning' as const, text: value })));
  const custom = withOptions(fc.constant({ type: 'custom' as const, kind: 'some.kind' as const }));

  const system = withOptions(text.map((content): ModelMessage => ({ role: 'system', content })));
  const user = withOptions(
    fc
      .oneof(text, fc.array(fc.oneof(words, image, file), { minLength: 1, maxLength: 3 }))
      .map((content): ModelMessage => ({ role: 'user', content })),
  );
  const assistant = withOptions(
    fc
      .oneof(text, fc.array(fc.oneof(words, answerFile, reasoning, custom), { minLength: 1, maxLength: 3 }))
      .map((content): ModelMessage => ({ role: 'assistant', content })),
  );
  const json = fc.jsonValue({ maxDepth: 2 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
  const output: fc.Arbitrary<ToolResultOutput> = fc.oneof(
    text.map((value) => ({ type: 'text' as const, value })),
    json.map((value) => ({ type: 'json' as const, value })),
    text.map((value) => ({ type: 'error-text' as const, value })),
    json.map((value) => ({ type: 'error-json' as const, value })),
    fc.constant({ type: 'execution-denied' as const, reason: 'no' }),
  );
  const toolUse = fc
    .array(fc.tuple(fc.uuid(), output, options), { minLength: 1, maxLength: 4 })
    .map((calls): ModelMessage[] => [
      {
        role: 'assistant',
        content: calls.map(([id]) => ({ type: 'tool-call', toolCallId: id, toolName: 'a__b', input: { id } })),
      },
      ...calls.map(([id, value, chosen]) => result(id, value, chosen ?? undefined)),
    ]);
  const turn = fc.oneof(
    system.map((message) => [message]),
    user.map((message) => [message]),
    assistant.map((message) => [message]),
    toolUse,
  );
  return fc.tuple(user, fc.array(turn, { maxLength: 6 })).map(([first, rest]) => [first, ...rest.flat()]);
}
