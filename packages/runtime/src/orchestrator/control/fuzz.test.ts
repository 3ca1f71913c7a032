// Tests random and malformed requests: each gets a response, every rejection has a code, and none hangs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isErrorCode } from '@goondan/types';
import fc from 'fast-check';
import { anyText } from '../../../../../test/any-text.ts';
import { samples } from '../../../../../test/samples.ts';
import { operations, PROTOCOL } from '../../control/operations.ts';
import { type ServedSwarm, serveFakeSwarm } from '../../testing/serve-fake-swarm.ts';
import { until } from '../../../../../test/until.ts';

let served: ServedSwarm;
let finishing: Timer;

beforeAll(async () => {
  served = await serveFakeSwarm();
  // Each waiting turn is ended at once.
  finishing = setInterval(() => served.swarm.running.forEach((id) => served.swarm.finish(id, 'Done')), 1);
});

afterAll(async () => {
  clearInterval(finishing);
  await served.close();
});

const paths = [...new Set(Object.values(operations).map(({ path }) => PROTOCOL + path))];

const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...paths) },
  { weight: 1, arbitrary: fc.constantFrom(...paths).map((known) => known.replace(PROTOCOL, '/v1')) },
  { weight: 1, arbitrary: fc.constantFrom('/', '//', '/v3', '/v3/../v3/status', '/v3/%2e%2e', '/%00', '/constructor') },
  { weight: 1, arbitrary: fc.webPath() },
);

const query = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.webQueryParameters().map((text) => `?${text}`) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom('agent', 'instanceKey', 'eventId', 'types', 'cancelOnDisconnect', '__proto__'),
          fc.constantFrom('', 'a', 'true', 'false', 'log', 'log,delta', 'log,', '%zz', '%ff', 'x'.repeat(5_000)),
        ),
        { maxLength: 3 },
      )
      .map((pairs) => `?${pairs.map(([key, value]) => `${key}=${value}`).join('&')}`),
  },
);

/** Values that have broken parsers before. */
const nasty = fc.constantFrom<unknown>(
  ...[null, -1, 1e308, 0.5, true, '', '__proto__', '\u0000', '\ud800', [], [[]], {}, 'x'.repeat(5_000)],
  ...[{ constructor: { name: 1 } }, { toString: 1 }, { length: 1e9 }, JSON.parse('{"__proto__":{"a":1}}')],
);
const fields = fc.constantFrom(
  ...['agent', 'instanceKey', 'input', 'id', 'metadata', 'auth', 'traceId', 'eventId', 'reason', 'fresh', 'graceMs'],
  ...['__proto__', 'constructor', 'toString', ''],
);
const filled = anyText({ minLength: 1 });
const choice = { agent: filled, instanceKey: filled };
/** Generates a valid request for each operation. */
const fitting = fc.oneof(
  fc.record(
    { ...choice, input: fc.string(), metadata: fc.dictionary(fc.string(), fc.jsonValue()) },
    { requiredKeys: [] },
  ),
  fc.record({ ...choice, eventId: filled, reason: fc.string() }, { requiredKeys: [] }),
  fc.record({ ...choice, eventId: filled }),
  fc.record({ ...choice, fresh: fc.boolean() }, { requiredKeys: [] }),
  fc.record({ graceMs: fc.nat() }),
);
const body = fc.oneof(
  { weight: 8, arbitrary: fitting.map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: fc.dictionary(fields, nasty, { maxKeys: 4 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: anyText() },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '['.repeat(50_000), `{"metadata":${'{"a":'.repeat(5_000)}`, '{'.repeat(70_000)),
  },
);

const request = fc.record({
  method: fc.oneof(
    { weight: 4, arbitrary: fc.constant('POST') },
    { weight: 2, arbitrary: fc.constant('GET') },
    { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'PATCH', 'OPTIONS') },
  ),
  at: fc.tuple(path, query).map((parts) => parts.join('')),
  body,
  accept: fc.constantFrom('*/*', 'text/event-stream', 'TEXT/EVENT-STREAM; q=0', 'nonsense'),
});

describe('a control socket with malformed requests', () => {
  test('answers or rejects them with a code', async () => {
    let answered = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(request, async (nonsense) => {
        const outcome = await promptly(() => send(nonsense));
        if (outcome === 'answered') answered += 1;
        else {
          refused += 1;
          expect(isErrorCode(outcome)).toBe(true);
        }
      }),
      { numRuns: samples(1_500) },
    );
    // Many requests must be answered and many rejected; otherwise the test proves nothing.
    expect(answered).toBeGreaterThan(samples(25));
    expect(refused).toBeGreaterThan(samples(500));
    await expectToBeWell();
  }, 120_000);

  test('survives bytes that are not HTTP', async () => {
    const start = fc.constantFrom(
      '',
      'GET ',
      'POST /v3/deliver HTTP/1.1\r\n',
      'GET /v3/events HTTP/1.1\r\nHost: x\r\n',
    );
    const rest = fc.oneof(
      anyText(),
      fc.constantFrom('\r\n', '\r\n\r\n', 'Content-Length: -1\r\n\r\n', 'Content-Length: 9e9\r\n\r\nx'),
      fc.constantFrom('Transfer-Encoding: chunked\r\n\r\nzz\r\n', `A: ${'a'.repeat(100_000)}\r\n\r\n`, '\0\0\r\n\r\n'),
    );
    await fc.assert(
      fc.asyncProperty(start, rest, async (first, second) => {
        const connection = await served.connect(first + second);
        // Some of these bytes are the beginning of a request. The server waits for the rest.
        const end = performance.now() + 5;
        while (!connection.isClosed() && connection.received() === '' && performance.now() < end) await Bun.sleep(1);
        connection.end();
        expect(connection.received()).toMatch(/^$|^HTTP\/1\.1 (?:[1-4]\d\d|505) /);
      }),
      { numRuns: samples(500) },
    );
    await expectToBeWell();
  }, 120_000);
});

async function send({ method, at, body: text, accept }: typeof request extends fc.Arbitrary<infer T> ? T : never) {
  const response = await fetch(`http://localhost${at}`, {
    unix: served.path,
    keepalive: false,
    method,
    headers: { Accept: accept },
    signal: AbortSignal.timeout(20_000),
    ...(method === 'GET' ? {} : { body: text }),
  });
  if (response.ok && response.headers.get('content-type') === 'text/event-stream') {
    await response.body?.cancel();
    return 'answered';
  }
  const answer = (await response.json()) as { error?: { code: string } };
  expect(response.ok).toBe(answer.error === undefined);
  return answer.error?.code ?? 'answered';
}

/** Fails if an action is slow twice. One slow attempt may be the fault of the machine. */
async function promptly<Value>(action: () => Promise<Value>): Promise<Value> {
  const startedAt = performance.now();
  const value = await action();
  if (performance.now() - startedAt < 1_000) return value;
  const again = performance.now();
  await action();
  expect(performance.now() - again).toBeLessThan(1_000);
  return value;
}

/** Expects no internal error and no open watch, and expects that the server still answers. */
async function expectToBeWell(): Promise<void> {
  expect(served.reported).toEqual([]);
  await until(() => served.swarm.watching + served.server.open === 0);
  expect((await served.request('GET', '/v3/status')).status).toBe(200);
}
