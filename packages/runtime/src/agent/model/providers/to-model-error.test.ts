import { describe, expect, test } from 'bun:test';
import type { ModelFailure } from '@goondan/types';
import { StreamedError } from './read-stream.ts';
import { toModelError } from './to-model-error.ts';
import { retryAfter } from './retry-after.ts';

const call = {
  label: 'some/model',
  apiKey: 'sk-secret-key',
  keySource: 'SOME_API_KEY',
  address: 'http://localhost:11434/v1',
  accepted: false,
  now: new Date('2026-01-01T00:00:00Z'),
};
const apiError = (statusCode: number, body: unknown, message = 'Bad Request') =>
  Object.assign(new Error(message), {
    name: 'AI_APICallError',
    statusCode,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
    responseHeaders: {},
  });

describe('a conversation that is too long, in the words of', () => {
  test.each([
    [
      'OpenAI',
      400,
      { error: { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' } },
    ],
    ['OpenAI, newer', 400, { error: { message: 'Your input exceeds the context window of this model.' } }],
    [
      'Anthropic',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' } },
    ],
    [
      'Anthropic, with its limit',
      400,
      { error: { message: 'input length and `max_tokens` exceed context limit: 199 + 20 > 200' } },
    ],
    ['Anthropic, in bytes', 413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }],
    [
      'Google',
      400,
      {
        error: {
          code: 400,
          message: 'The input token count exceeds the maximum number of tokens allowed 1048576.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    [
      'vLLM',
      400,
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000.",
        type: 'BadRequestError',
        code: 400,
      },
    ],
    [
      'llama.cpp',
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size',
          type: 'exceed_context_size_error',
        },
      },
    ],
    ['Ollama', 400, { error: 'prompt too long; exceeded max context length by 100 tokens' }],
    [
      'LM Studio',
      400,
      {
        error:
          'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
      },
    ],
    [
      'Groq',
      413,
      {
        error: { message: 'Please reduce the length of the messages or completion.', code: 'context_length_exceeded' },
      },
    ],
    [
      'TGI',
      422,
      { error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096', error_type: 'validation' },
    ],
  ])('%s', (_who, status, body) => {
    expect(toModelError(apiError(status, body), call)).toMatchObject({ code: 'E_MODEL_CONTEXT', retryable: false });
  });

  test('is not reported for a 429, even with the same words', () => {
    const body = { error: { message: 'Please reduce the length of the messages.', code: 'rate_limit_exceeded' } };
    expect(toModelError(apiError(429, body), call)).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });
});

describe('kinds of failures', () => {
  test.each<[string, unknown, object]>([
    [
      'Google calls a wrong key a bad request',
      apiError(400, {
        error: {
          code: 400,
          message: 'API key not valid.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      }),
      { code: 'E_MODEL_AUTH' },
    ],
    [
      'an empty account is final, although it is a 429',
      apiError(429, { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } }),
      { code: 'E_MODEL_FAILED', retryable: false },
    ],
    [
      'an account without credit is final',
      apiError(402, { type: 'error', error: { type: 'billing_error', message: 'No credit.' } }),
      { code: 'E_MODEL_FAILED', retryable: false },
    ],
    ['408 may be tried again', apiError(408, ''), { code: 'E_MODEL_FAILED', retryable: true }],
    [
      '404 is final',
      apiError(404, { error: { message: 'No such model.' } }),
      { code: 'E_MODEL_FAILED', retryable: false },
    ],
    [
      'overloaded, told without a status, may be tried again',
      { type: 'overloaded_error', message: 'Overloaded' },
      { code: 'E_MODEL_FAILED', retryable: true },
    ],
    [
      'a socket that closed may be tried again',
      Object.assign(new Error('closed'), { code: 'ECONNRESET' }),
      { code: 'E_MODEL_FAILED', retryable: true },
    ],
    [
      'a request that the provider package refuses is final',
      Object.assign(new Error('No audio.'), { name: 'AI_UnsupportedFunctionalityError' }),
      { code: 'E_MODEL_FAILED', retryable: false },
    ],
    [
      'a bare string is an error too',
      'boom',
      { code: 'E_MODEL_FAILED', retryable: false, message: 'some/model rejected this request: boom' },
    ],
    [
      'and so is nothing',
      undefined,
      { code: 'E_MODEL_FAILED', message: 'some/model rejected this request: no reason given' },
    ],
  ])('%s', (_what, error, expected) => {
    expect(toModelError(error, call)).toMatchObject(expected);
  });

  test('an unknown failure is retryable after the provider accepted the request', () => {
    expect(toModelError(new Error('?'), { ...call, accepted: true })).toMatchObject({
      code: 'E_MODEL_FAILED',
      retryable: true,
      suggestion: expect.stringContaining('`options: { stream: false }`'),
    });
  });

  test.each([
    ['error.message', { error: { message: 'the words' } }],
    ['error', { error: 'the words' }],
    ['message', { message: 'the words' }],
    ['detail', { detail: 'the words' }],
    ['a list', [{ error: { code: 400, message: 'the words' } }]],
    ['a plain body', 'the words'],
  ])('the provider’s message is found in %s', (_where, body) => {
    expect(toModelError(apiError(400, body, ''), call).message).toBe('some/model failed (HTTP 400): the words');
  });
});

test('neither the message nor the cause holds the key or the request', () => {
  const error = Object.assign(apiError(400, { error: { message: 'Bad key sk-secret-key!' } }), {
    requestBodyValues: { messages: ['the whole conversation'] },
  });
  const shown = Bun.inspect(toModelError(error, call), { depth: 20 });
  expect(shown).toContain('Bad key ***!');
  expect(shown).not.toContain('sk-secret-key');
  expect(shown).not.toContain('whole conversation');
});

test('a key too short to be a secret is not masked', () => {
  const error = apiError(400, { error: { message: 'Bad token.' } });
  expect(toModelError(error, { ...call, apiKey: 'k' }).message).toContain('Bad token.');
});

describe('the time to wait', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const google = JSON.stringify({
    error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }] },
  });
  test.each<[Record<string, string>, string, number | undefined]>([
    [{ 'retry-after': '2' }, '', 2000],
    [{ 'retry-after': '0.5' }, '', 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, '', 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '', 0],
    [{ 'retry-after-ms': '125', 'retry-after': '9' }, '', 125],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, '', 9000],
    [{ 'retry-after': 'soon' }, '', undefined],
    [{ 'retry-after': '-3' }, '', undefined],
    [{ 'retry-after': '' }, google, 34_500],
    [{}, '', undefined],
  ])('%p %p is %p', (headers, body, expected) => {
    expect(retryAfter(headers, body, now)).toBe(expected as number);
  });
});

describe('suggestions', () => {
  test.each([
    [apiError(401, {}), 'SOME_API_KEY', 'Check SOME_API_KEY'],
    [apiError(429, { error: { message: 'Slower.' } }), 'failed (HTTP 429): Slower.', 'Extension/model-fallback'],
    [apiError(429, { error: { message: 'Slower.' } }), '', 'Wait a minute, then send the input again.'],
    [apiError(429, { error: { message: 'Pay.', code: 'insufficient_quota' } }), 'Pay.', 'Check the credit'],
    [apiError(404, { error: { message: 'No such model.' } }), 'was not found (HTTP 404): No such model.', call.address],
    [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'cannot be reached: refused', call.address],
  ])('after %p', (thrown, message, suggestion) => {
    const error = toModelError(thrown, call);
    expect(error.message).toContain(message);
    expect(error.suggestion).toContain(suggestion);
  });

  test('without a key', () => {
    const error = toModelError(apiError(401, {}), { ...call, apiKey: undefined });
    expect(error.message).toStartWith('some/model requires a key, and the Model has none (HTTP 401): ');
    expect(error.suggestion).toContain('`apiKey` of the Model');
  });
});

describe('Y-06 the kind of a failure', () => {
  const streamed = (type: string) => new StreamedError({ type: 'error', error: { type, message: 'No.' } });
  test.each([
    [apiError(429, {}), false, 'rate-limit'],
    [apiError(408, {}), false, 'timeout'],
    [apiError(500, {}), false, 'server'],
    [apiError(529, {}), false, 'server'],
    [apiError(400, {}), false, 'refused'],
    [apiError(404, {}), false, 'not-found'],
    [apiError(401, {}), false, 'auth'],
    [apiError(429, { error: { message: 'Pay.', code: 'insufficient_quota' } }), false, 'credit'],
    [
      apiError(413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }),
      false,
      'context',
    ],
    [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), false, 'unreachable'],
    [new Error('odd'), false, 'refused'],
    [new Error('odd'), true, 'broken-off'],
    [streamed('overloaded_error'), true, 'server'],
    [streamed('api_error'), true, 'server'],
    [streamed('rate_limit_error'), true, 'rate-limit'],
  ])('%s', (error, accepted, failure) => {
    expect(toModelError(error, { ...call, accepted }).failure).toBe(failure as ModelFailure);
  });
});
