/** Tests failures between the runtime and each provider over real sockets, and the errors that the caller gets. */
import { describe, expect, test } from 'bun:test';
import { GoondanError, type ModelMessage } from '@goondan/types';
import { ask, failureOf, openAt, testKey } from './wire/ask-model.ts';
import { providerCases, type ProviderCase } from './wire/provider-cases.ts';
import { startResetServer } from './wire/reset-server.ts';
import type { WireReply } from './wire/wire-dialect.ts';
import { startWireServer, type WireAnswer, type WireServer } from './wire/wire-server.ts';
import { until } from '../../../../../../test/until.ts';

const question: ModelMessage = { role: 'user', content: 'Hello?' };
const pieces = ['One ', 'two ', 'three ', 'four.'];
const story: WireReply = { text: pieces, usage: { input: 10, output: 4, cached: 0 } };
/** In each format, this many events contain the first deltas of the reply, but not its end. */
const beginning = 4;

describe.each(providerCases)('%s', (_name, provider) => {
  const { errorTypes } = provider;
  const refusal = (
    status: number,
    type: string,
    message: string,
    headers: Record<string, string> = {},
  ): WireAnswer => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(provider.dialect.error(status, type, message)),
  });

  /** Returns the error of one call that receives this answer. */
  const failWith = async (answer: WireAnswer, options = {}): Promise<GoondanError> => {
    await using server = startWireServer(provider.dialect);
    server.answer(answer);
    const error = await failureOf(ask(openAt(server.url, provider, options), [question]));
    expect(server.requests).toBeArrayOfSize(1); // The provider's package does not retry by itself.
    if (error instanceof GoondanError) return error;
    throw error;
  };

  test.each([
    ['when the provider says', { 'retry-after': '2' }, 2000],
    ['to the millisecond', { 'retry-after-ms': '350', 'retry-after': '1' }, 350],
    ['at once', {}, undefined],
  ])('429 is retryable %s', async (_when, headers, retryAfterMs) => {
    const error = await failWith(refusal(429, errorTypes.rate, 'Too many requests.', headers));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.retryAfterMs).toEqual(retryAfterMs);
    expect(error.message).toContain('Too many requests.');
  });

  test.each([500, 502, 503, 504, 529])('%p is retryable', async (status) => {
    const error = await failWith(refusal(status, errorTypes.server, 'Come back later.'));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain(`HTTP ${status}`);
  });

  test('an error that is not JSON still shows its text', async () => {
    const error = await failWith({ status: 502, body: '<h1>Bad Gateway of the proxy</h1>' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain('Bad Gateway');
  });

  test.each([401, 403])('%p names the source of the key, and never the key', async (status) => {
    const error = await failWith(refusal(status, errorTypes.auth, `No access for ${testKey}.`));
    expect(error).toMatchObject({ code: 'E_MODEL_AUTH', retryable: false });
    expect(error.message).toContain('apiKey of the Model');
    expect(error.message).toContain('No access for ***.');
    expect(Bun.inspect(error, { depth: 20 })).not.toContain(testKey);
  });

  test('any other 4xx is final; the error has the provider’s message, cut', async () => {
    const error = await failWith(refusal(400, errorTypes.bad, `Bad shape. ${'x'.repeat(5000)}`));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: false });
    expect(error.message).toContain('Bad shape.');
    expect(error.message.length).toBeLessThan(1200);
  });

  test('a conversation that is too long has its own code', async () => {
    const { status, type, message } = provider.tooLong;
    const error = await failWith(refusal(status, type, message));
    expect(error).toMatchObject({ code: 'E_MODEL_CONTEXT', retryable: false });
    expect(error.message).toContain(message);
  });

  test.each([
    ['prose', true, 'I am a teapot.'],
    ['prose', false, 'I am a teapot.'],
    ['another format', true, 'data: {"hello":"world"}\n\n'],
    ['another format', false, '{"hello":"world"}'],
    ['broken JSON', true, 'data: {"id": \n\n'],
    ['broken JSON', false, '{"id":'],
    ['nothing', true, ''],
    ['nothing', false, ''],
  ])('a success that is %s is retryable (stream: %p)', async (_what, stream, body) => {
    const error = await failWith({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }, { stream });
    expect(error.code).toBeOneOf(['E_MODEL_REPLY', 'E_MODEL_FAILED']);
    expect(error.retryable).toBe(true);
  });

  test.each([true, false])('a web page as the answer suggests to check the endpoint (stream: %p)', async (stream) => {
    const error = await failWith(
      { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<title>Welcome</title>' },
      { stream },
    );
    expect(error).toMatchObject({ code: 'E_MODEL_REPLY', retryable: false });
    expect(error.message).toContain('<title>Welcome</title>');
    expect(error.suggestion).toContain('endpoint');
  });

  // These wait for a time limit, so they wait together.
  test.concurrent.each([true, false])('a server that never answers is a timeout (stream: %p)', async (stream) => {
    const started = performance.now();
    const error = await failWith('nothing', { stream, timeouts: { silenceMs: 400 } });
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    expect(error.message).toContain('silent for 0.4 s');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test.concurrent('a stream that falls silent is a timeout, and the server sees the client leave', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first: beginning, of: story, after: 'silence' });
    const error = await failureOf(ask(openAt(server.url, provider, { timeouts: { silenceMs: 400 } }), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    await clientGone(server);
  });

  test.concurrent('a call that exceeds its total time is a timeout, even while bytes arrive', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { ...story, text: Array.from({ length: 500 }, () => 'word ') } });
    const error = await failureOf(ask(openAt(server.url, provider, { timeouts: { totalMs: 400 } }), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    expect(String(error)).toContain('in all');
  });

  test('a connection reset in mid-stream is retryable', async () => {
    using server = startResetServer(provider.dialect.events(story).slice(0, beginning));
    const error = await failureOf(ask(openAt(server.url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });

  test('a stream that ends before the reply does is retryable', async () => {
    const error = await failWith({ first: beginning, of: story, after: 'end' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });

  test('an error event in mid-stream is retryable', async () => {
    const event = provider.dialect.errorEvent('Overloaded, sorry.');
    const error = await failWith({ first: beginning, of: story, add: event, after: 'end' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain('Overloaded, sorry.');
  });

  test.each([0, beginning])('an error event after %p events closes the connection', async (first) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first, of: story, add: provider.dialect.errorEvent('Overloaded.'), after: 'silence' });
    const error = await failureOf(ask(openAt(server.url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(String(error)).toContain('Overloaded.');
    await clientGone(server);
  });

  test('an unreachable provider is retryable', async () => {
    const url = await closedPort(provider);
    const error = await failureOf(ask(openAt(url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(String(error)).toContain('cannot be reached');
  });

  test('a redirect is not followed, because it would pass the key on', async () => {
    await using other = startWireServer(provider.dialect);
    other.answer({ reply: story });
    const error = await failWith({ status: 307, headers: { location: `${other.url}${provider.path}` }, body: '' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: false });
    expect(other.requests).toBeEmpty();
  });

  test('a cancel in mid-stream throws its reason, and the server sees it', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first: beginning, of: story, after: 'silence' });
    const controller = new AbortController();
    const reason = new GoondanError('E_CANCELLED', 'The user pressed Ctrl-C.');
    const asked = ask(openAt(server.url, provider), [question], {
      signal: controller.signal,
      onDelta: () => controller.abort(reason),
    });
    expect(await failureOf(asked)).toBe(reason);
    await clientGone(server);
  });

  test.each([true, false])('a cancel before the first byte is seen by the server (stream: %p)', async (stream) => {
    await using server = startWireServer(provider.dialect);
    server.answer('nothing');
    const controller = new AbortController();
    const reason = new Error('stop');
    const asked = ask(openAt(server.url, provider, { stream }), [question], { signal: controller.signal });
    await requestSeen(server);
    controller.abort(reason);
    expect(await failureOf(asked)).toBe(reason);
    await clientGone(server);
  });

  test('a call that is already cancelled sends nothing', async () => {
    await using server = startWireServer(provider.dialect);
    const reason = new Error('stop');
    const error = await failureOf(ask(openAt(server.url, provider), [question], { signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(server.requests).toBeEmpty();
  });

  test('an error of a listener is not reported as the provider’s', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first: beginning, of: story, after: 'silence' });
    const mistake = new TypeError('listener');
    const onDelta = () => {
      throw mistake;
    };
    expect(await failureOf(ask(openAt(server.url, provider), [question], { onDelta }))).toBe(mistake);
    await clientGone(server);
  });

  test('a file that the provider does not accept is refused before it is sent', async () => {
    await using server = startWireServer(provider.dialect);
    const file: ModelMessage = {
      role: 'user',
      content: [{ type: 'file', data: 'https://x.example/a.bin', mediaType: 'application' }],
    };
    const error = await failureOf(ask(openAt(server.url, provider), [file]));
    expect(error).toMatchObject({ code: 'E_MODEL_FILE', retryable: false });
    expect(server.requests).toBeEmpty();
  });
});

/** Resolves when the server has received the request. */
async function requestSeen(server: WireServer): Promise<void> {
  await until(() => server.requests.length !== 0);
}

/** Resolves when the server has noticed that the client of its only request disconnected. */
async function clientGone(server: WireServer): Promise<void> {
  expect(server.requests).toBeArrayOfSize(1);
  await server.requests[0]?.gone;
}

/** Returns an address at which no server listens. */
async function closedPort(provider: ProviderCase): Promise<string> {
  await using server = startWireServer(provider.dialect);
  return server.url;
}
