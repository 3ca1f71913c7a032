// Tests how a collector's responses are interpreted, over real HTTP.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '../ports/clock.ts';
import { postSpansTo } from './post-spans.ts';

setDefaultTimeout(30_000);

const servers: { stop(force: boolean): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

function serve(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  servers.push(server);
  return `http://127.0.0.1:${server.port}/v1/traces`;
}

const post = (endpoint: string, { timeoutMs = 10_000, signal = new AbortController().signal } = {}) =>
  postSpansTo(
    { endpoint, headers: { 'api-key': 'one', 'content-type': 'text/plain' }, timeoutMs },
    systemClock,
    fetch,
  )('{"resourceSpans":[]}', signal);

test('a post is JSON with the configured headers', async () => {
  const heard: unknown[] = [];
  const url = serve(async (request) => {
    const { headers, method } = request;
    const names = ['content-type', 'api-key', 'user-agent'];
    heard.push(method, ...names.map((name) => headers.get(name)), await request.json());
    return Response.json({ partialSuccess: {} });
  });
  expect(await post(url)).toMatchObject({ type: 'taken', rejected: 0 });
  expect(heard).toEqual([
    'POST',
    'application/json',
    'one',
    expect.stringMatching(/^goondan-otlp-exporter-js\/\d/),
    { resourceSpans: [] },
  ]);
});

test.each([
  [400, 'refused'],
  [401, 'refused'],
  [404, 'refused'],
  [500, 'refused'],
  [302, 'refused'],
  [429, 'away'],
  [502, 'away'],
  [503, 'away'],
  [504, 'away'],
])('an answer with status %p means %p', async (status, type) => {
  const elsewhere: Request[] = [];
  const other = serve((request) => {
    elsewhere.push(request);
    return new Response('');
  });
  const url = serve(() => new Response('nothing to see', { status, headers: { location: other } }));
  expect(await post(url)).toEqual({ type, why: `it answers ${status}` } as never);
  expect(elsewhere).toEqual([]);
});

test.each([
  ['2', 2_000],
  [new Date(Date.now() + 3_600_000).toUTCString(), expect.any(Number)],
  ['soon', undefined],
  ['-5', undefined],
])('an answer with Retry-After of %p', async (header, retryAfterMs) => {
  const url = serve(() => new Response('', { status: 503, headers: { 'retry-after': header } }));
  const outcome = await post(url);
  expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toEqual(retryAfterMs);
});

test('rejected spans are counted, whatever else is in the answer', async () => {
  const rejecting = { partialSuccess: { rejectedSpans: '7', errorMessage: 'too old' } };
  expect(await post(serve(() => Response.json(rejecting)))).toEqual({ type: 'taken', rejected: 7, why: 'too old' });
  const mute = { partialSuccess: { rejectedSpans: 7, errorMessage: 7 } };
  expect(await post(serve(() => Response.json(mute)))).toMatchObject({ rejected: 7, why: 'it gives no reason' });
  for (const answer of [
    '',
    'null',
    '[]',
    'not JSON',
    '{"partialSuccess":{"rejectedSpans":"many"}}',
    '{"partialSuccess":7}',
  ]) {
    expect(await post(serve(() => new Response(answer)))).toMatchObject({ type: 'taken', rejected: 0 });
  }
});

test('an endless answer is not read to the end', async () => {
  const url = serve(
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(new Uint8Array(100_000));
            await Bun.sleep(1);
          },
        }),
      ),
  );
  expect(await post(url)).toMatchObject({ type: 'taken' });
});

test('a closed port, a timeout and an abort do not throw', async () => {
  const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') });
  const { port } = closed;
  await closed.stop(true);
  expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ type: 'away' });
  const silent = serve(() => new Promise<Response>(() => undefined));
  expect(await post(silent, { timeoutMs: 50 })).toEqual({ type: 'away', why: 'no answer within 50 ms' });
  const abort = new AbortController();
  const given = post(silent, { signal: abort.signal });
  abort.abort(new Error('the agent ends'));
  expect(await given).toEqual({ type: 'away', why: 'the agent ends' });
});
