/** The four providers: the wire format of each, and the data that tests expect in it. For tests only. */
import type { JsonObject, JsonValue } from '@goondan/types';
import type { ProviderName } from '../provider-table.ts';
import { anthropicWire } from './anthropic-wire.ts';
import { googleWire } from './google-wire.ts';
import { openaiWire } from './openai-wire.ts';
import type { WireDialect } from './wire-dialect.ts';

export interface ProviderCase {
  readonly provider: ProviderName;
  readonly model: string;
  readonly dialect: WireDialect;
  /** The URL path of a streamed request. */
  readonly path: string;
  /** The name of the header with the key, and the function that returns its value. */
  readonly keyHeader: readonly [name: string, value: (key: string) => string];
  readonly keySource: string;
  /** The provider's names for four kinds of errors. */
  readonly errorTypes: { readonly rate: string; readonly server: string; readonly auth: string; readonly bad: string };
  readonly tooLong: { readonly status: number; readonly type: string; readonly message: string };
  /** Returns the messages of a request, without the system prompt. */
  messages(body: JsonObject): JsonValue[];
  system(body: JsonObject): JsonValue[];
  maxTokens(body: JsonObject): JsonValue | undefined;
  /**
   * The two tool results of the test, as they are sent to the provider: `{"tempC":21}` for call-1, an error for call-2.
   */
  readonly toolResults: JsonValue[];
  /** The assistant message of the reasoning test, as it is sent back to the provider. */
  readonly reasoningBack: JsonValue;
  /** The user message in this format, with a text, a PNG as base64, a PDF as a data URL, and an image by URL. */
  readonly files: JsonValue;
}

export const png = 'iVBORw0KGgoAAAANSUhEUg==';
export const pdf = Buffer.from('%PDF-1.4 tiny').toString('base64');
export const pictureUrl = 'https://pictures.example/cat.jpg';

const chat = {
  messages: (body: JsonObject) => asArray(body['messages']).filter((message) => asObject(message)['role'] !== 'system'),
  system: (body: JsonObject) =>
    asArray(body['messages']).flatMap((message) =>
      asObject(message)['role'] === 'system' ? [asObject(message)['content'] ?? null] : [],
    ),
  maxTokens: (body: JsonObject) => body['max_tokens'],
};

const call = (id: string, city: string) => ({
  id,
  type: 'function',
  function: { name: 'weather__get', arguments: JSON.stringify({ city }) },
});

export const openaiCase: ProviderCase = {
  provider: 'openai',
  model: 'gpt-4o',
  dialect: openaiWire,
  path: '/v1/chat/completions',
  keyHeader: ['authorization', (key) => `Bearer ${key}`],
  keySource: 'OPENAI_API_KEY',
  errorTypes: { rate: 'rate_limit_exceeded', server: 'server_error', auth: 'invalid_api_key', bad: 'invalid_value' },
  tooLong: {
    status: 400,
    type: 'context_length_exceeded',
    message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  },
  ...chat,
  toolResults: [
    { role: 'tool', tool_call_id: 'call-1', content: '{"tempC":21}' },
    { role: 'tool', tool_call_id: 'call-2', content: '{"error":"no such city"}' },
  ],
  // Chat completions have no field for reasoning. So the reasoning is left out, and the call succeeds.
  reasoningBack: { role: 'assistant', content: null, tool_calls: [call('call-1', 'Seoul')] },
  files: [
    { type: 'text', text: 'Look:' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'file', file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
    { type: 'image_url', image_url: { url: pictureUrl } },
  ],
};

export const compatibleCase: ProviderCase = {
  ...openaiCase,
  provider: 'openai-compatible',
  model: 'local-model',
  keySource: 'apiKey of the Model',
  tooLong: {
    status: 400,
    type: 'exceed_context_size_error',
    message: 'the request exceeds the available context size, try increasing it',
  },
  toolResults: [
    { role: 'tool', tool_call_id: 'call-1', content: '{"tempC":21}' },
    { role: 'tool', tool_call_id: 'call-2', content: 'no such city' },
  ],
  reasoningBack: {
    role: 'assistant',
    content: null,
    reasoning_content: 'Better look it up.',
    tool_calls: [call('call-1', 'Seoul')],
  },
};

export const anthropicCase: ProviderCase = {
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  dialect: anthropicWire,
  path: '/v1/messages',
  keyHeader: ['x-api-key', (key) => key],
  keySource: 'ANTHROPIC_API_KEY',
  errorTypes: {
    rate: 'rate_limit_error',
    server: 'api_error',
    auth: 'authentication_error',
    bad: 'invalid_request_error',
  },
  tooLong: {
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 205000 tokens > 200000 maximum',
  },
  messages: (body) => asArray(body['messages']),
  system: (body) => asArray(body['system']).map((block) => asObject(block)['text'] ?? null),
  maxTokens: (body) => body['max_tokens'],
  toolResults: [
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call-1', content: '{"tempC":21}' },
        { type: 'tool_result', tool_use_id: 'call-2', content: 'no such city', is_error: true },
      ],
    },
  ],
  reasoningBack: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Better look it up.', signature: 'sig-reasoning' },
      { type: 'tool_use', id: 'call-1', name: 'weather__get', input: { city: 'Seoul' } },
    ],
  },
  files: [
    { type: 'text', text: 'Look:' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'paper.pdf' },
    { type: 'image', source: { type: 'url', url: pictureUrl } },
  ],
};

export const googleCase: ProviderCase = {
  provider: 'google',
  model: 'gemini-2.5-flash',
  dialect: googleWire,
  path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  keyHeader: ['x-goog-api-key', (key) => key],
  keySource: 'GOOGLE_GENERATIVE_AI_API_KEY',
  errorTypes: { rate: 'RESOURCE_EXHAUSTED', server: 'INTERNAL', auth: 'UNAUTHENTICATED', bad: 'INVALID_ARGUMENT' },
  tooLong: {
    status: 400,
    type: 'INVALID_ARGUMENT',
    message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  },
  messages: (body) => asArray(body['contents']),
  system: (body) =>
    asArray(asObject(body['systemInstruction'] ?? {})['parts']).map((part) => asObject(part)['text'] ?? null),
  maxTokens: (body) => asObject(body['generationConfig'] ?? {})['maxOutputTokens'],
  toolResults: [
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'call-1',
            name: 'weather__get',
            response: { name: 'weather__get', content: { tempC: 21 } },
          },
        },
        {
          functionResponse: {
            id: 'call-2',
            name: 'weather__get',
            response: { name: 'weather__get', error: 'no such city' },
          },
        },
      ],
    },
  ],
  reasoningBack: {
    role: 'model',
    parts: [
      { text: 'Better look it up.', thought: true, thoughtSignature: 'sig-reasoning' },
      { functionCall: { id: 'call-1', name: 'weather__get', args: { city: 'Seoul' } }, thoughtSignature: 'sig-call' },
    ],
  },
  files: [
    { text: 'Look:' },
    { inlineData: { mimeType: 'image/png', data: png } },
    { inlineData: { mimeType: 'application/pdf', data: pdf } },
    { fileData: { mimeType: 'image/jpeg', fileUri: pictureUrl } },
  ],
};

export const providerCases: readonly (readonly [name: string, provider: ProviderCase])[] = [
  anthropicCase,
  googleCase,
  openaiCase,
  compatibleCase,
].map((provider) => [provider.provider, provider] as const);

function asArray(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: JsonValue): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
