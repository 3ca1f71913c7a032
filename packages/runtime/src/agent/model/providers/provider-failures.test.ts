/** What goes wrong between us and each provider, over real sockets, and what the caller is told. */
import { describe, expect, test } from 'bun:test';
import { GoondanError, type ModelMessage } from '@goondan/types';
import { ask, failureOf, openAt, testKey } from './wire/ask-model.ts';
import { providerCases, type ProviderCase } from './wire/provider-cases.ts';
import { startResetServer } from './wire/reset-server.ts';
import type { WireReply } from './wire/wire-dialect.ts';
import { startWireServer, type WireAnswer, type WireServer } from './wire/wire-server.ts';

const question: ModelMessage = { role: 'user', content: 'Hello?' };
const pieces = ['One ', 'two ', 'three ', 'four.'];
const story: WireReply = { text: pieces, usage: { input: 10, output: 4, cached: 0 } };
/** Enough events of each format for the first pieces of the story, and not for its end. */
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

  /** The error of one call that gets this answer. */
  const failWith = async (answer: WireAnswer, options = {}): Promise<GoondanError> => {
    await using server = startWireServer(provider.dialect);
    server.answer(answer);
    const error = await failureOf(ask(openAt(server.url, provider, options), [question]));
    expect(server.requests).toBeArrayOfSize(1); // no retry of its own
    if (error instanceof GoondanError) return error;
    throw error;
  };

  test.each([
    ['when the provider says', { 'retry-after': '2' }, 2000],
    ['to the millisecond', { 'retry-after-ms': '350', 'retry-after': '1' }, 350],
    ['at once', {}, undefined],
  ])('429 may be tried again %s', async (_when, headers, retryAfterMs) => {
    const error = await failWith(refusal(429, errorTypes.rate, 'Too many requests.', headers));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.retryAfterMs).toEqual(retryAfterMs);
    expect(error.message).toContain('Too many requests.');
  });

  test.each([500, 502, 503, 504, 529])('%p may be tried again', async (status) => {
    const error = await failWith(refusal(status, errorTypes.server, 'Come back later.'));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain(`HTTP ${status}`);
  });

  test('an error without JSON still shows what was said', async () => {
    const error = await failWith({ status: 502, body: '<h1>Bad Gateway of the proxy</h1>' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain('Bad Gateway');
  });

  test.each([401, 403])('%p names where the key comes from, and never the key', async (status) => {
    const error = await failWith(refusal(status, errorTypes.auth, `No access for ${testKey}.`));
    expect(error).toMatchObject({ code: 'E_MODEL_AUTH', retryable: false });
    expect(error.message).toContain('apiKey of the Model');
    expect(error.message).toContain('No access for ***.');
    expect(Bun.inspect(error, { depth: 20 })).not.toContain(testKey);
  });

  test('any other 4xx is final, in the words of the provider, cut', async () => {
    const error = await failWith(refusal(400, errorTypes.bad, `Bad shape. ${'x'.repeat(5000)}`));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: false });
    expect(error.message).toContain('Bad shape.');
    expect(error.message.length).toBeLessThan(1200);
  });

  test('too long a conversation has its own code', async () => {
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
  ])('a success that is %s may be tried again (stream: %p)', async (_what, stream, body) => {
    const error = await failWith({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }, { stream });
    expect(error.code).toBeOneOf(['E_MODEL_REPLY', 'E_MODEL_FAILED']);
    expect(error.retryable).toBe(true);
  });

  test.each([true, false])('a web page points to the endpoint (stream: %p)', async (stream) => {
    const error = await failWith(
      { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<title>Welcome</title>' },
      { stream },
    );
    expect(error).toMatchObject({ code: 'E_MODEL_REPLY', retryable: false });
    expect(error.message).toContain('<title>Welcome</title>');
    expect(error.suggestion).toContain('endpoint');
  });

  test.each([true, false])('a server that says nothing is a timeout (stream: %p)', async (stream) => {
    const started = performance.now();
    const error = await failWith('nothing', { stream, timeouts: { silenceMs: 400 } });
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    expect(error.message).toContain('silent for 0.4 s');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('a stream that falls silent is a timeout, and the server sees the end', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first: beginning, of: story, after: 'silence' });
    const error = await failureOf(ask(openAt(server.url, provider, { timeouts: { silenceMs: 400 } }), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    await clientGone(server);
  });

  test('a call that takes too long in all is a timeout, however busy', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { ...story, text: Array.from({ length: 500 }, () => 'word ') } });
    const error = await failureOf(ask(openAt(server.url, provider, { timeouts: { totalMs: 400 } }), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_TIMEOUT', retryable: true });
    expect(String(error)).toContain('in all');
  });

  test('a connection reset in mid-stream may be tried again', async () => {
    using server = startResetServer(provider.dialect.events(story).slice(0, beginning));
    const error = await failureOf(ask(openAt(server.url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });

  test('a stream that ends before the reply does may be tried again', async () => {
    const error = await failWith({ first: beginning, of: story, after: 'end' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });

  test('an error told in mid-stream may be tried again', async () => {
    const event = provider.dialect.errorEvent('Overloaded, sorry.');
    const error = await failWith({ first: beginning, of: story, add: event, after: 'end' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(error.message).toContain('Overloaded, sorry.');
  });

  test.each([0, beginning])('an error told after %p events lets go of the connection', async (first) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first, of: story, add: provider.dialect.errorEvent('Overloaded.'), after: 'silence' });
    const error = await failureOf(ask(openAt(server.url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(String(error)).toContain('Overloaded.');
    await clientGone(server);
  });

  test('a provider that cannot be reached may be tried again', async () => {
    const url = await closedPort(provider);
    const error = await failureOf(ask(openAt(url, provider), [question]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
    expect(String(error)).toContain('cannot be reached');
  });

  test('a redirect is not followed: it would take the key along', async () => {
    await using other = startWireServer(provider.dialect);
    other.answer({ reply: story });
    const error = await failWith({ status: 307, headers: { location: `${other.url}${provider.path}` }, body: '' });
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: false });
    expect(other.requests).toBeEmpty();
  });

  test('cancel in mid-stream throws the reason and is seen by the server', async () => {
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

  test.each([true, false])('cancel before the first byte is seen by the server (stream: %p)', async (stream) => {
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

  test('a call that is cancelled already asks nobody', async () => {
    await using server = startWireServer(provider.dialect);
    const reason = new Error('stop');
    const error = await failureOf(ask(openAt(server.url, provider), [question], { signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(server.requests).toBeEmpty();
  });

  test("a listener's own error is not the provider's", async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ first: beginning, of: story, after: 'silence' });
    const mistake = new TypeError('listener');
    const onDelta = () => {
      throw mistake;
    };
    expect(await failureOf(ask(openAt(server.url, provider), [question], { onDelta }))).toBe(mistake);
    await clientGone(server);
  });

  test('a file the provider does not take is refused before it is sent', async () => {
    await using server = startWireServer(provider.dialect);
    const file: ModelMessage = {
      role: 'user',
      content: [{ type: 'file', data: 'https://x.example/a.bin', mediaType: 'application' }],
    };
    const error = await failureOf(ask(openAt(server.url, provider), [file]));
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', retryable: false });
    expect(server.requests).toBeEmpty();
  });
});

/** Resolves when the server has the request. */
async function requestSeen(server: WireServer): Promise<void> {
  while (server.requests.length === 0) await Bun.sleep(1);
}

/** Resolves when the server has seen that the client of its one request is gone. */
async function clientGone(server: WireServer): Promise<void> {
  expect(server.requests).toBeArrayOfSize(1);
  await server.requests[0]?.gone;
}

/** An address at which nobody listens any more. */
async function closedPort(provider: ProviderCase): Promise<string> {
  await using server = startWireServer(provider.dialect);
  return server.url;
}
