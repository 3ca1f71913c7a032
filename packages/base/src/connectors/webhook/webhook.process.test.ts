// Tests `webhook` over real HTTP. The test acts as the swarm, except in the last part.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { GoondanError } from '@goondan/types';
import { type RunningConnector, runConnector, type RunOptions } from '../../testing/run-connector.ts';
import { startExample } from '../../testing/start-example.ts';
import { talk } from '../../testing/talk.ts';
import type { WebhookConfig } from './webhook-config.ts';
import webhook from './webhook.ts';
import { until } from '../../../../../test/until.ts';
import { stopAfterEach } from '../../testing/stop-after-each.ts';

setDefaultTimeout(60_000);

const secret = 'a-secret-of-a-hook-1';
const stopLater = stopAfterEach();

async function open(options: Partial<RunOptions<Partial<WebhookConfig>>> = {}): Promise<RunningConnector> {
  const { config, ...over } = options;
  return stopLater(await runConnector(webhook, { config: { port: 0, ...config }, secrets: { secret }, ...over }));
}

const body = JSON.stringify({
  action: 'opened',
  issue: { number: 7, title: 'It does not start' },
  repository: { full_name: 'goondan/goondan' },
  sender: { login: 'kim' },
});
const hmac = (text: string, key = secret, algorithm = 'sha256', encoding: 'hex' | 'base64' = 'hex') =>
  createHmac(algorithm, key).update(text).digest(encoding);
/** The id of an event that its signature identifies. */
const eventIdOf = (signature: string) => `signed-${createHash('sha256').update(signature).digest('hex')}`;
type Sent = { headers: Record<string, string>; body: string };
const post = (url: string, { headers, body: text }: Sent) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text });
const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { error: { code: string } }).error.code,
];

const github = (over: Record<string, string | undefined> = {}, text = body): Sent => {
  const headers = {
    'x-hub-signature-256': `sha256=${hmac(text)}`,
    'x-github-event': 'issues',
    'x-github-delivery': 'delivery-1',
    ...over,
  };
  // This leaves out headers without a value.
  return { headers: JSON.parse(JSON.stringify(headers)) as Record<string, string>, body: text };
};

describe('a delivery of GitHub', () => {
  const config = { signature: 'github' } as const;

  test('is an event, accepted before it is acknowledged', async () => {
    let isAccepted = false;
    const { url, events } = await open({
      config,
      emit: async () => {
        await Bun.sleep(20);
        isAccepted = true;
      },
    });
    const response = await post(url, github());
    expect([response.status, await response.json(), isAccepted]).toEqual([202, { accepted: true }, true]);
    expect(events).toEqual([
      {
        name: 'delivery',
        id: eventIdOf(`sha256=${hmac(body)}`),
        input: `{"event":"issues","body":${body}}`,
        properties: { event: 'issues', action: 'opened', repository: 'goondan/goondan', sender: 'kim' },
        auth: { signature: 'github' },
      },
    ]);
  });

  test('R-08 belongs to the trace of its header, under the span of the sender', async () => {
    const { url, events } = await open({ config });
    const [traceId, parentSpanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await post(url, github({ traceparent: `00-${traceId}-${parentSpanId}-00` }));
    await post(url, github({ traceparent: 'nonsense', 'x-github-delivery': 'delivery-2' }));
    expect(events[0]).toMatchObject({ traceId, parentSpanId, isSampled: false });
    expect(events[1]).not.toHaveProperty('traceId');
  });

  test('reaches the agent as the connection defines', async () => {
    const input =
      '{{id}} {{body.sender.login}} {{body.action}} {{body.issue.number}}: {{body.issue.title}}{{body.nothing}}';
    const { url, events } = await open({ config: { ...config, input, properties: { number: 'body.issue.number' } } });
    await post(url, github());
    expect(events[0]?.input).toBe('delivery-1 kim opened 7: It does not start');
    expect(events[0]?.properties).toMatchObject({ number: 7, action: 'opened' });
  });

  test('has no properties that are objects, or too long for a key', async () => {
    const properties = { issue: 'body.issue', long: 'body.long', open: 'body.open', gone: 'body.gone' };
    const { url, events } = await open({ config: { ...config, properties } });
    await post(url, github({}, JSON.stringify({ issue: {}, long: 'x'.repeat(1_001), open: false, gone: null })));
    expect(events[0]?.properties).toEqual({ event: 'issues', open: false, gone: null });
  });

  test('is cut for the agent when it is long', async () => {
    const { url, events } = await open({ config: { ...config, inputLimit: 100, input: '{{body.text}}' } });
    await post(url, github({}, JSON.stringify({ text: 'x'.repeat(200) })));
    expect(events[0]?.input).toBe(`${'x'.repeat(100)}… (100 more characters)`);
  });

  test('without a matching rule is not an error of the sender', async () => {
    const { url } = await open({
      config,
      emit: async () => {
        throw new GoondanError('E_INGRESS_RULE', 'no');
      },
    });
    const response = await post(url, github());
    expect([response.status, await response.json()]).toEqual([200, { accepted: false, reason: 'no rule fits it' }]);
  });

  test('gets a retryable answer when it cannot be accepted now', async () => {
    const { url } = await open({
      config,
      emit: async () => {
        throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
      },
    });
    const response = await post(url, github());
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await codeOf(response)).toEqual([429, 'E_INBOX_FULL']);
  });

  test.each<[problem: string, sent: () => Sent]>([
    ['no signature', () => github({ 'x-hub-signature-256': undefined })],
    ['an empty signature', () => github({ 'x-hub-signature-256': '' })],
    ['the prefix alone', () => github({ 'x-hub-signature-256': 'sha256=' })],
    ['another secret', () => github({ 'x-hub-signature-256': `sha256=${hmac(body, 'another-secret-of-it')}` })],
    ['the empty secret', () => github({ 'x-hub-signature-256': `sha256=${hmac(body, '')}` })],
    ['no prefix', () => github({ 'x-hub-signature-256': hmac(body) })],
    ['another prefix', () => github({ 'x-hub-signature-256': `sha1=${hmac(body)}` })],
    ['a short signature', () => github({ 'x-hub-signature-256': `sha256=${hmac(body).slice(0, 40)}` })],
    ['an odd number of digits', () => github({ 'x-hub-signature-256': `sha256=${hmac(body).slice(0, -1)}` })],
    ['more digits', () => github({ 'x-hub-signature-256': `sha256=${hmac(body)}00` })],
    ['capital letters', () => github({ 'x-hub-signature-256': `sha256=${hmac(body).toUpperCase()}` })],
    ['another encoding', () => github({ 'x-hub-signature-256': `sha256=${hmac(body, secret, 'sha256', 'base64')}` })],
    ['another algorithm', () => github({ 'x-hub-signature-256': `sha256=${hmac(body, secret, 'sha512')}` })],
    [
      'the old header',
      () => github({ 'x-hub-signature-256': undefined, 'x-hub-signature': `sha1=${hmac(body, secret, 'sha1')}` }),
    ],
    ['two signatures', () => github({ 'x-hub-signature-256': `sha256=${hmac(body, 'x')}, sha256=${hmac(body)}` })],
    ['a changed body', () => ({ ...github(), body: body.replace('opened', 'closed') })],
    ['a longer body', () => ({ ...github(), body: `${body} ` })],
    ['no body', () => ({ ...github(), body: '' })],
  ])('with %s: 401, and no event', async (_, sent) => {
    const { url, events } = await open({ config });
    expect(await codeOf(await post(url, sent()))).toEqual([401, 'E_WEBHOOK_SIGNATURE']);
    expect(events).toEqual([]);
    // The same connector accepts a valid delivery.
    expect((await post(url, github())).status).toBe(202);
  });

  test('with its signature in two headers: 401, and no event', async () => {
    const { url, events } = await open({ config });
    const { headers } = github();
    const lines = Object.entries({ ...headers, host: 'x', 'content-type': 'application/json' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const request = [
      'POST / HTTP/1.1',
      ...lines,
      `x-hub-signature-256: sha256=${'0'.repeat(64)}`,
      `content-length: ${body.length}`,
      'connection: close',
      '',
      body,
    ];
    expect(await talk(Number(new URL(url).port), request.join('\r\n'))).toContain('HTTP/1.1 401');
    expect(events).toEqual([]);
  });

  test('is read though 200 others have sent only half of theirs', async () => {
    const { url, events } = await open({ config });
    const port = Number(new URL(url).port);
    const half = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"half"`;
    const heard: string[] = [];
    const stuck = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const socket = connect(port, '127.0.0.1', () => void socket.write(half));
        socket.on('data', (bytes) => void heard.push(bytes.toString()));
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    try {
      // Only the newest 64 connections stay open. All other senders get an error response.
      await until(() => heard.length >= 136);
      expect(heard.every((answer) => answer.startsWith('HTTP/1.1 408'))).toBe(true);
      for (let each = 0; each < 70; each += 1) {
        const signed = github({ 'x-github-delivery': `delivery-${each}` }, `{"action":"number ${each}"}`);
        expect((await post(url, signed)).status).toBe(202);
      }
      expect(events).toHaveLength(70);
    } finally {
      for (const socket of stuck) socket.destroy();
    }
  });

  test('repeated is the same event, also at another node and under another id; another body is another event', async () => {
    const nodes = [await open({ config }), await open({ config })];
    const other = github({}, '{"action":"closed"}');
    for (const { url } of nodes)
      for (const sent of [github(), github(), github({ 'x-github-delivery': 'delivery-2' }), other])
        expect((await post(url, sent)).status).toBe(202);
    const ids = nodes.flatMap(({ events }) => events.map(({ id }) => id));
    const [id, changed] = [eventIdOf(`sha256=${hmac(body)}`), eventIdOf(`sha256=${hmac(other.body)}`)];
    expect(ids).toEqual([id, id, id, changed, id, id, id, changed]);
  });

  test('under another id has the same properties, so it reaches the same conversation', async () => {
    const { url, events } = await open({ config: { ...config, properties: { delivery: 'id' } } });
    for (const sent of [github(), github({ 'x-github-delivery': 'delivery-2' })]) await post(url, sent);
    const delivery = eventIdOf(`sha256=${hmac(body)}`);
    expect(events.map(({ properties }) => properties)).toMatchObject([{ delivery }, { delivery }]);
  });

  test('leaves no signature behind, with which others could send it again', async () => {
    const { url, events } = await open({ config });
    await post(url, github());
    expect(JSON.stringify(events)).not.toContain(hmac(body));
  });

  test.each<[status: number, code: string, sent: () => Sent]>([
    [400, 'E_HTTP_BODY', () => github({ 'x-github-delivery': undefined })],
    [400, 'E_HTTP_BODY', () => github({ 'x-github-delivery': 'x'.repeat(201) })],
    [400, 'E_HTTP_BODY', () => github({}, '{"a":')],
    [415, 'E_HTTP_TYPE', () => github({ 'content-type': 'application/x-www-form-urlencoded' }, 'payload=%7B%7D')],
    [413, 'E_HTTP_SIZE', () => github({}, JSON.stringify({ a: 'x'.repeat(1_000_000) }))],
  ])('with a valid signature but wrong content: %i %s', async (status, code, sent) => {
    const { url, events } = await open({ config });
    expect(await codeOf(await post(url, sent()))).toEqual([status, code]);
    expect(events).toEqual([]);
  });

  test('may be signed with the old secret while it is being replaced', async () => {
    const { url } = await open({ config, secrets: { secret: 'the-secret-from-now-on', 'secret-old': secret } });
    expect((await post(url, github())).status).toBe(202);
  });
});

describe('a delivery with a custom HMAC', () => {
  const config: Partial<WebhookConfig> = {
    path: '/hook',
    signature: {
      header: 'X-Signature',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'v1,',
      timestamp: { header: 'X-Timestamp', toleranceSeconds: 60 },
    },
    id: { header: 'X-Id' },
    eventHeader: 'X-Event',
  };
  const sign = (time: string, text = body, key = secret) => `v1,${hmac(`${time}.${text}`, key, 'sha512', 'base64')}`;
  const now = (offset = 0) => String(Math.floor(Date.now() / 1_000) + offset);
  const send = (over: Record<string, string | undefined> = {}, text = body, time = now()): Sent => ({
    headers: JSON.parse(
      JSON.stringify({ 'x-timestamp': time, 'x-signature': sign(time, text), 'x-id': '1', 'x-event': 'made', ...over }),
    ) as Record<string, string>,
    body: text,
  });

  test('is an event', async () => {
    const { url, events } = await open({ config });
    expect((await post(`${url}/hook`, send())).status).toBe(202);
    expect(events).toEqual([
      {
        name: 'delivery',
        id: expect.stringMatching(/^signed-[0-9a-f]{64}$/),
        input: `{"event":"made","body":${body}}`,
        properties: { event: 'made' },
        auth: { signature: 'hmac' },
      },
    ]);
    expect((await post(url, send())).status).toBe(404);
    expect((await fetch(`${url}/hook`)).status).toBe(405);
  });

  test.each<[problem: string, sent: () => Sent]>([
    ['no signature', () => send({ 'x-signature': undefined })],
    ['an empty signature', () => send({ 'x-signature': '' })],
    ['another secret', () => send({ 'x-signature': sign(now(), body, 'another-secret-of-it') })],
    ['no prefix', () => send({ 'x-signature': sign(now()).slice(3) })],
    ['another prefix', () => send({ 'x-signature': sign(now()).replace('v1,', 'v0,') })],
    ['a short signature', () => send({ 'x-signature': sign(now()).slice(0, 40) })],
    ['no padding', () => send({ 'x-signature': sign(now()).replace(/=+$/, '') })],
    [
      'another alphabet',
      () => send({ 'x-signature': sign(now()).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') }),
    ],
    ['another encoding', () => send({ 'x-signature': `v1,${hmac(`${now()}.${body}`, secret, 'sha512')}` })],
    ['another algorithm', () => send({ 'x-signature': `v1,${hmac(`${now()}.${body}`, secret, 'sha256', 'base64')}` })],
    ['two signatures', () => send({ 'x-signature': `${sign(now())} ${sign(now())}` })],
    ['the body alone signed', () => send({ 'x-signature': `v1,${hmac(body, secret, 'sha512', 'base64')}` })],
    ['a changed body', () => ({ ...send(), body: body.replace('opened', 'closed') })],
    ['no body', () => ({ ...send(), body: '' })],
    ['no time', () => send({ 'x-timestamp': undefined })],
    ['another time', () => send({ 'x-timestamp': now(-1) }, body, now())],
    ['an old time', () => send({}, body, now(-62))],
    ['a time to come', () => send({}, body, now(62))],
    ['a time in milliseconds', () => send({}, body, String(Date.now()))],
    ['an invalid time', () => send({}, body, 'now')],
    ['a time in another notation', () => send({}, body, `0x${Number(now()).toString(16)}`)],
    ['a negative time', () => send({}, body, `-${now()}`)],
  ])('with %s: 401, and no event', async (_, sent) => {
    const { url, events } = await open({ config });
    expect(await codeOf(await post(`${url}/hook`, sent()))).toEqual([401, 'E_WEBHOOK_SIGNATURE']);
    expect(events).toEqual([]);
    expect((await post(`${url}/hook`, send())).status).toBe(202);
  });

  test('again with another id is the same event', async () => {
    const { url, events } = await open({ config });
    const sent = send();
    const changed = { ...sent, headers: { ...sent.headers, 'x-id': '2' } };
    for (const each of [sent, changed]) expect((await post(`${url}/hook`, each)).status).toBe(202);
    expect(events[1]?.id).toBe(events[0]?.id);
  });

  test('has the id from its body, the signed one, or its signature', async () => {
    const header = 'x-signature';
    const cases: [Partial<WebhookConfig>, Sent, string][] = [
      [
        { signature: { header }, id: { body: 'body.id' } },
        { headers: { [header]: hmac('{"id":5}') }, body: '{"id":5}' },
        '5',
      ],
      [
        { signature: { header, signed: '{id}|{body}' }, id: { header: 'x-id' } },
        { headers: { [header]: hmac('$&|{}'), 'x-id': '$&' }, body: '{}' },
        '$&',
      ],
      [
        { signature: { header }, allowReplays: true },
        { headers: { [header]: hmac('[]') }, body: '[]' },
        eventIdOf(hmac('[]')),
      ],
    ];
    for (const [config_, sent, id] of cases) {
      const { url, events } = await open({ config: config_ });
      expect((await post(url, sent)).status).toBe(202);
      expect(events[0]?.id).toBe(id);
    }
  });
});

describe('a webhook refuses to start', () => {
  test.each<[problem: string, config: Partial<WebhookConfig>, secrets: Record<string, string>]>([
    ['The secret "secret" is missing', { signature: 'github' }, {}],
    ['at least 16 characters', { signature: 'github' }, { secret: 'short' }],
    ['at least 16 characters', { signature: 'github' }, { secret: '' }],
    ['Unknown secret "token"', { signature: 'github' }, { token: secret }],
    ['exclude each other', { insecure: true }, { secret }],
    ['a host that only this machine can reach', { insecure: true, host: '0.0.0.0' }, {}],
    ['`signature` is missing', {}, { secret }],
  ])('%s', async (problem, config, secrets) => {
    const start = runConnector(webhook, { config: { port: 0, ...config }, secrets });
    expect(await start.catch((error: unknown) => error)).toMatchObject({
      code: 'E_CONNECTOR_CONFIG',
      message: expect.stringContaining(problem),
    });
  });

  test('but accepts everything from this machine when configured', async () => {
    const { url, events } = await open({ config: { insecure: true }, secrets: {} });
    expect((await post(url, { headers: {}, body: '{}' })).status).toBe(202);
    expect(events).toEqual([{ name: 'delivery', input: '{}', properties: {} }]);
  });
});

describe('the example, in real processes', () => {
  const change = (yaml: string) => yaml.replace(/port: \d+/, 'port: 0');

  test('accepts an issue once, in the instance of its repository, and no bad delivery', async () => {
    const example = stopLater(
      await startExample('webhook', { environment: { GITHUB_WEBHOOK_SECRET: secret }, change }),
    );
    const answers: string[] = [];
    await example.swarm.watch({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended') answers.push(JSON.stringify(notice.end.result.responseMessage?.data.content));
    });
    const [, base = ''] = await example.logged(/^Listening on (\S+)$/);
    const url = `${base}github`;
    expect((await post(url, github({ 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }))).status).toBe(401);
    expect(await example.swarm.instances()).toEqual([]);
    for (const _ of [1, 2]) expect((await post(url, github())).status).toBe(202);
    await until(() => answers.length !== 0);
    expect(
      (await post(url, github({ 'x-github-event': 'ping', 'x-github-delivery': 'p' }, '{"zen":"x"}'))).status,
    ).toBe(200);
    expect(answers.join()).toContain('Issue 7 is about It does not start.');
    expect((await example.swarm.instances()).map(({ instanceKey }) => instanceKey)).toEqual(['goondan/goondan']);
    await Bun.sleep(100);
    expect(answers).toHaveLength(1);
  });

  test('without its secret refuses to start, and reports it', async () => {
    const example = stopLater(
      await startExample('webhook', { change: (yaml) => change(yaml).replace(/ {2}secrets: .*\n/, '') }),
    );
    await example.logged(/E_CONNECTOR_CONFIG: The secret "secret" is missing/);
    // The line is logged a moment before the status changes.
    const problem = async () => (await example.swarm.status()).connections[0]?.problem;
    await until(async () => (await problem()) !== undefined);
    expect(await problem()).toContain('The secret "secret" is missing');
  });
});
