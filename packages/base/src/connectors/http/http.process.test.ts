// Tests `http` over real HTTP. The test acts as the swarm, except in the last part.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type AskSwarm, GoondanError, type TurnDelta } from '@goondan/types';
import {
  acceptance,
  answerOf,
  type RunningConnector,
  runConnector,
  type RunOptions,
} from '../../testing/run-connector.ts';
import { sampleStep } from '../../../../../test/samples.ts';
import { type RunningExample, startExample } from '../../testing/start-example.ts';
import { talk } from '../../testing/talk.ts';
import type { HttpConfig } from './http-config.ts';
import http from './http.ts';
import { until } from '../../../../../test/until.ts';
import { stopAfterEach } from '../../testing/stop-after-each.ts';

setDefaultTimeout(60_000);

const token = 'a-token-of-a-door-1';
const stopLater = stopAfterEach();

async function open({ config, ...over }: Partial<RunOptions<Partial<HttpConfig>>> = {}): Promise<RunningConnector> {
  return stopLater(await runConnector(http, { config: { port: 0, ...config }, secrets: { token }, ...over }));
}

const authorization = `Bearer ${token}`;
const json = { 'content-type': 'application/json', authorization };
const post = (url: string, body: unknown, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body), ...init });
const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
];
const delta = (text: string): TurnDelta => ({ type: 'text', text, turnId: 't', stepId: 's', stepIndex: 0 });

describe('a message', () => {
  test('is answered at the end of the turn', async () => {
    const { url, events } = await open();
    const response = await post(url, { input: 'hello', room: 7, deep: { a: [1] } });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(answerOf('You said: hello'));
    expect(events).toEqual([
      { name: 'message', input: 'hello', properties: { room: 7, deep: { a: [1] } }, auth: { client: 'default' } },
    ]);
  });

  test('Y-01 may demand an answer that fits a schema', async () => {
    const answered = answerOf('{"a":1}', { output: { a: 1 } });
    const { url, events } = await open({ ask: async () => answered });
    const output = { schema: { type: 'object' }, retries: 1 };
    expect(await (await post(url, { input: 'hello', output })).json()).toEqual(answered);
    expect(events[0]).toMatchObject({ output, properties: {} });
  });

  test('streams when the client asks for it', async () => {
    const ask: AskSwarm = async (_event, options) => {
      options?.onAccepted?.(acceptance);
      options?.onDelta?.(delta('Hel'));
      options?.onDelta?.({ type: 'discard', turnId: 't', stepId: 's', stepIndex: 0 });
      options?.onDelta?.(delta('Hello.'));
      return answerOf('Hello.');
    };
    const { url } = await open({ ask });
    const response = await post(url, { input: 'hi' }, { accept: 'text/event-stream' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = (await response.text())
      .trimEnd()
      .split('\n\n')
      .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event)?.slice(1));
    expect(events.map((event) => event?.[0])).toEqual(['accepted', 'delta', 'discard', 'delta', 'done']);
    expect(JSON.parse(events[1]?.[1] ?? '')).toEqual({ type: 'text', text: 'Hel', step: 0 });
    expect(JSON.parse(events[4]?.[1] ?? '')).toEqual(answerOf('Hello.'));
  });

  test('is only accepted when the connection says so', async () => {
    const { url, events } = await open({ config: { mode: 'accept', path: '/in' } });
    const response = await post(`${url}/in`, { input: 'hello' });
    expect([response.status, await response.json()]).toEqual([202, { accepted: true }]);
    expect(events).toHaveLength(1);
  });

  test('has the id of the client, and another client cannot have the same', async () => {
    const { url, events } = await open({ secrets: { token, 'token-ci': 'another-token-of-it' } });
    await post(url, { input: 'a' }, { 'idempotency-key': 'one' });
    await post(url, { input: 'a', id: 'one' });
    await post(url, { input: 'a', id: 'one' }, { authorization: 'Bearer another-token-of-it' });
    expect(events.map(({ id, auth }) => [id, auth?.client])).toEqual([
      ['["default","one"]', 'default'],
      ['["default","one"]', 'default'],
      ['["ci","one"]', 'ci'],
    ]);
    expect(await codeOf(await post(url, { input: 'a', id: 'two' }, { 'idempotency-key': 'one' }))).toEqual([
      400,
      'E_HTTP_BODY',
    ]);
    expect(await codeOf(await post(url, { input: 'a', id: 7 }))).toEqual([400, 'E_HTTP_BODY']);
    expect(await codeOf(await post(url, { input: 'a', id: 'x'.repeat(201) }))).toEqual([400, 'E_HTTP_BODY']);
  });

  test('stays in the trace of its sender', async () => {
    const { url, events } = await open();
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await post(url, { input: 'a' }, { traceparent: `00-${trace}-b7ad6b7169203331-01` });
    expect(events[0]).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331' });
  });
});

describe('a request is rejected', () => {
  test('without its token: 401, and nothing is emitted', async () => {
    const { url, events } = await open();
    for (const headers of [{ authorization: '' }, { authorization: 'Bearer wrong-wrong-wrong-wrong' }]) {
      const response = await post(url, { input: 'a' }, headers);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await codeOf(response)).toEqual([401, 'E_HTTP_AUTH']);
    }
    expect(await codeOf(await fetch(`${url}/elsewhere`))).toEqual([401, 'E_HTTP_AUTH']);
    expect(events).toEqual([]);
  });

  test.each<[status: number, code: string, path: string, init: RequestInit]>([
    [404, 'E_HTTP_PATH', '/elsewhere', { method: 'POST', headers: json, body: '{"input":"a"}' }],
    [405, 'E_HTTP_METHOD', '/', { headers: json }],
    [405, 'E_HTTP_METHOD', '/', { method: 'PUT', headers: json, body: '{"input":"a"}' }],
    [415, 'E_HTTP_TYPE', '/', { method: 'POST', headers: { authorization }, body: 'input=a' }],
    [400, 'E_HTTP_BODY', '/', { method: 'POST', headers: json, body: '{"input":' }],
    [400, 'E_HTTP_BODY', '/', { method: 'POST', headers: json, body: new Uint8Array([123, 255, 125]) }],
    [400, 'E_HTTP_BODY', '/', { method: 'POST', headers: json, body: '[1]' }],
    [400, 'E_HTTP_BODY', '/', { method: 'POST', headers: json, body: '{"input":7}' }],
    [400, 'E_HTTP_BODY', '/', { method: 'POST', headers: json, body: '{}' }],
    [
      413,
      'E_HTTP_SIZE',
      '/',
      { method: 'POST', headers: json, body: JSON.stringify({ input: 'x'.repeat(1_000_000) }) },
    ],
  ])('%i %s', async (status, code, path, init) => {
    const { url, events } = await open();
    expect(await codeOf(await fetch(url + path, init))).toEqual([status, code]);
    expect(events).toEqual([]);
  });

  test.each<[status: number, code: GoondanError['code']]>([
    [422, 'E_INGRESS_RULE'],
    [422, 'E_INGRESS_KEY'],
    [429, 'E_INBOX_FULL'],
    [429, 'E_CALLS_FULL'],
    [503, 'E_AGENT_START'],
    [503, 'E_SWARM_STOPPED'],
    [507, 'E_DISK_FULL'],
  ])('%i %s, as the swarm answers, streaming or not', async (status, code) => {
    const refuse = async () => {
      throw new GoondanError(code, 'no', { retryAfterMs: 2_500 });
    };
    const { url } = await open({ ask: refuse });
    for (const accept of ['application/json', 'text/event-stream']) {
      const response = await post(url, { input: 'a' }, { accept });
      expect(response.headers.get('retry-after')).toBe(status === 429 || status === 503 ? '3' : null);
      expect(await codeOf(response)).toEqual([status, code]);
    }
  });

  test.each([
    [500, 'E_MODEL_FAILED'],
    [409, 'E_CANCELLED'],
    [410, 'E_TURN_FORGOTTEN'],
  ])('%i for a turn that failed with %s', async (status, code) => {
    const { url } = await open({
      ask: async () => answerOf('', { finishReason: 'error', error: { message: 'no', code } }),
    });
    const response = await post(url, { input: 'a' });
    expect([response.status, await response.json()]).toEqual([
      status,
      { ...acceptance, usage: expect.anything(), finishReason: 'error', error: { message: 'no', code } },
    ]);
  });

  test('500 for an internal error, which only the log shows', async () => {
    const { url, lines } = await open({
      ask: async () => {
        throw new TypeError('internals');
      },
    });
    const response = await post(url, { input: 'a' });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('internals');
    expect(lines.join('\n')).toContain('internals');
  });
});

describe('a waiting client', () => {
  const waits: AskSwarm = (_event, options) => {
    options?.onAccepted?.(acceptance);
    return new Promise((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
  };

  test('gets an answer at the deadline', async () => {
    const { url } = await open({ ask: waits, config: { timeoutSeconds: 0.05 } });
    expect(await codeOf(await post(url, { input: 'a' }))).toEqual([504, 'E_HTTP_TIMEOUT']);
    const streamed = await (await post(url, { input: 'a' }, { accept: 'text/event-stream' })).text();
    expect(streamed).toContain('event: error\ndata: {"error":{"code":"E_HTTP_TIMEOUT"');
  });

  test.each([
    ['application/json', false],
    ['application/json', true],
    ['text/event-stream', false],
    ['text/event-stream', true],
  ])('may leave (%s); the turn is cancelled only when configured: %p', async (accept, cancelOnDisconnect) => {
    const asked = Promise.withResolvers<boolean | undefined>();
    const left = Promise.withResolvers<void>();
    const { url } = await open({
      config: { cancelOnDisconnect },
      ask: (event, options) => {
        options?.signal?.addEventListener('abort', () => left.resolve());
        asked.resolve(options?.cancelOnAbort);
        return waits(event, options);
      },
    });
    const leaving = new AbortController();
    const answer = post(url, { input: 'a' }, { accept }, { signal: leaving.signal }).then((response) =>
      response.text(),
    );
    expect(await asked.promise).toBe(cancelOnDisconnect);
    leaving.abort();
    await answer.catch(() => undefined);
    await left.promise;
  });

  test('is rejected when there are too many: 429', async () => {
    const gate = Promise.withResolvers<void>();
    const { url, events } = await open({
      config: { maxConcurrent: 2 },
      ask: async () => {
        await gate.promise;
        return answerOf('ok');
      },
    });
    const first = [post(url, { input: 'a' }), post(url, { input: 'b' })];
    await until(() => events.length >= 2);
    const third = await post(url, { input: 'c' });
    expect(third.headers.get('retry-after')).toBe('1');
    expect(await codeOf(third)).toEqual([429, 'E_HTTP_FULL']);
    // A health check is still answered.
    expect((await fetch(`${url}/health`)).status).toBe(200);
    gate.resolve();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(url, { input: 'c' })).status).toBe(200);
  });

  test('is answered when the connector stops; other requests are not accepted', async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const connector = await open({
      ask: async () => {
        asked.resolve();
        await gate.promise;
        return answerOf('ok');
      },
    });
    const { url } = connector;
    const answer = post(url, { input: 'a' });
    await asked.promise;
    const stopped = connector.stop();
    expect(await post(url, { input: 'b' }).catch(() => 'nobody there')).toBe('nobody there');
    gate.resolve();
    expect((await answer).status).toBe(200);
    await stopped;
  });
});

describe('without a token', () => {
  const insecure = { secrets: {}, config: { insecure: true } };

  test('programs of this machine are answered', async () => {
    const { url, events } = await open(insecure);
    expect((await post(url, { input: 'a' }, { authorization: '' })).status).toBe(200);
    expect(events[0]).toEqual({ name: 'message', input: 'a', properties: {} });
  });

  test.each([
    { origin: 'https://example.org' },
    { origin: 'null' },
    { host: 'example.org' },
    { host: '127.0.0.1.nip.io' },
  ])('pages of browsers are rejected: %p', async (headers) => {
    const { url, events } = await open(insecure);
    const { port } = new URL(url);
    // Writes the request by hand, because `fetch` sets its own `host` header.
    const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
    const body = '{"input":"a"}';
    const request = [
      'POST / HTTP/1.1',
      ...lines,
      'content-type: application/json',
      `content-length: ${body.length}`,
      'connection: close',
      '',
      body,
    ].join('\r\n');
    expect(await talk(Number(port), request)).toContain('HTTP/1.1 403');
    expect(events).toEqual([]);
  });

  test('it refuses to start, unless it is configured', async () => {
    const start = runConnector(http, { config: { port: 0 } });
    expect(await start.catch((error: unknown) => error)).toMatchObject({ code: 'E_CONNECTOR_CONFIG' });
  });
});

describe('the example, in real processes', () => {
  const openExample = async (environment: Record<string, string>): Promise<RunningExample> => {
    const change = (yaml: string) => yaml.replace(/port: \d+/, 'port: 0');
    return stopLater(await startExample('http', { environment, change }));
  };

  test('answers, streams, and answers again under the same id', async () => {
    const { logged, swarm } = await openExample({ DOOR_TOKEN: token });
    const [, url = ''] = await logged(/^Listening on (\S+)$/);
    const first = await post(url, { input: 'my name is Kim', room: 'red' }, { 'idempotency-key': '1' });
    expect(await first.json()).toMatchObject({
      response: 'Good morning, Kim.',
      instanceKey: 'room-red',
      agent: 'greeter',
      duplicate: false,
    });
    const again = await post(url, { input: 'my name is Lee', room: 'red' }, { 'idempotency-key': '1' });
    expect(await again.json()).toMatchObject({ response: 'Good morning, Kim.', duplicate: true });
    const streamed = await (await post(url, { input: 'hi', room: 'blue' }, { accept: 'text/event-stream' })).text();
    const texts = [...streamed.matchAll(/^event: delta\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).text);
    expect(texts.join('')).toBe('You said: hi');
    expect(streamed).toContain('event: done\ndata: {"response":"You said: hi"');
    expect(await codeOf(await post(url, { input: 'no room' }))).toEqual([422, 'E_INGRESS_KEY']);
    expect((await swarm.instances()).map(({ instanceKey }) => instanceKey).toSorted()).toEqual([
      'room-blue',
      'room-red',
    ]);
  });

  /** 20 MiB is the limit of a swarm without one of its own. */
  const mebibytes = sampleStep === 1 ? 20 : 4;

  test(`Y-02 takes a file of ${mebibytes} MiB as JSON and as a form, refuses one byte more, and leaves nothing of it`, async () => {
    const limit = mebibytes * 1_024 * 1_024;
    const change = (yaml: string) =>
      yaml
        .replace(/port: \d+/, 'port: 0, maxBodyBytes: 64000000')
        .replace(/agents: \[.*\]$/m, mebibytes === 20 ? '$&' : `$&\n  policy: { maxFileBytes: ${limit} }`)
        .replace("'You said: {{input}}'", "'{{input}} {{files}}'");
    const example = stopLater(await startExample('http', { environment: { DOOR_TOKEN: token }, change }));
    const [, url = ''] = await example.logged(/^Listening on (\S+)$/);
    const bytes = Buffer.alloc(limit, 'the canary ');
    const inJson = (data: Buffer, room: string) =>
      post(url, { input: 'look', room, content: [{ type: 'file', data: data.toString('base64'), filename: 'big' }] });
    const inForm = (data: Buffer, room: string) => {
      const body = new FormData();
      body.set('input', 'look');
      body.set('room', room);
      body.set('upload', new File([new Uint8Array(data)], 'big'));
      return fetch(url, { method: 'POST', headers: { authorization }, body });
    };
    for (const [send, room] of [
      [inJson, 'red'],
      [inForm, 'blue'],
    ] as const) {
      expect(await (await send(bytes, room)).json()).toMatchObject({ response: `look [file big, ${mebibytes} MB]` });
      expect(await codeOf(await send(Buffer.alloc(limit + 1), 'green'))).toEqual([413, 'E_FILE_SIZE']);
    }
    for (const room of ['room-red', 'room-blue']) {
      const [input] = await example.messages('greeter', room);
      expect(input?.data.content).toMatchObject([{ text: 'look' }, { filename: 'big', size: limit }]);
    }
    expect(
      await codeOf(await post(url, { room: 'red', content: [{ type: 'image', image: 'blob:sha256-1' }] })),
    ).toEqual([400, 'E_FILE_INVALID']);
    expect(await codeOf(await post(url, { room: 'red', content: [{ type: 'cat' }] }))).toEqual([400, 'E_FILE_INVALID']);
    expect(await example.stored()).toHaveLength(1);
    expect((await example.swarm.instances()).length).toBe(2);
  });

  test('answers waiting clients when the swarm stops before the end of the turn', async () => {
    const change = (yaml: string) =>
      yaml.replace(/port: \d+/, 'port: 0').replace('options:', 'options:\n    latencyMs: 60000');
    const example = stopLater(await startExample('http', { environment: { DOOR_TOKEN: token }, change }));
    const [, url = ''] = await example.logged(/^Listening on (\S+)$/);
    const answer = post(url, { input: 'hi', room: 'red' });
    await until(async () => (await example.swarm.status()).instances.some(({ status }) => status === 'working'));
    await example.swarm.stop({ graceMs: 2_000 });
    expect(await codeOf(await answer)).toEqual([503, 'E_SWARM_STOPPED']);
  });
});
