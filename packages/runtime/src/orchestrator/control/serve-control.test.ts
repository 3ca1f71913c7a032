import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { errorCatalogue, type ErrorCode, GoondanError, isErrorCode } from '@goondan/types';
import { existsSync, lstatSync } from 'node:fs';
import { manualClock } from '../../testing/manual-clock.ts';
import { fakeStatus } from '../../testing/fake-control.ts';
import { type RequestOptions, type ServedSwarm, serveFakeSwarm } from '../../testing/serve-fake-swarm.ts';
import { controlStatusByCode } from './refuse.ts';
import { until } from '../../../../../test/until.ts';

let served: ServedSwarm;

beforeEach(async () => {
  served = await serveFakeSwarm();
});

afterEach(() => served.close());

describe('the control socket', () => {
  test('is open to its owner alone', () => {
    expect(lstatSync(served.path).mode & 0o777).toBe(0o600);
    expect(lstatSync(served.folder).mode & 0o777).toBe(0o700);
  });

  test('stays open while nothing happens, although Bun closes idle connections', async () => {
    const serve = spyOn(Bun, 'serve');
    const other = await serveFakeSwarm();
    expect(serve.mock.calls).toMatchObject([[{ idleTimeout: 0 }]]);
    serve.mockRestore();
    await other.close();
  });

  test('identifies itself', async () => {
    expect(await answerTo('GET', '/v3/status')).toEqual(fakeStatus);
    expect(await answerTo('GET', '/v3/instances')).toEqual({ instances: fakeStatus.instances });
  });

  test('takes an input with all its fields', async () => {
    const delivery = {
      agent: 'helper',
      instanceKey: 'a/b',
      input: 'Hello',
      id: 'e1',
      metadata: { a: [1, null] },
      auth: { user: 'ada' },
      traceId: '0123456789abcdef0123456789abcdef',
    };
    const acceptance = await answerTo('POST', '/v3/deliver', { body: delivery });
    expect(acceptance).toMatchObject({ accepted: true, eventId: 'e1', agent: 'helper', duplicate: false });
    expect(await answerTo('POST', '/v3/deliver', { body: delivery })).toMatchObject({ duplicate: true });
    expect(await answerTo('POST', '/v3/deliver')).toMatchObject({ agent: 'entry', instanceKey: 'default' });
    expect(served.swarm.calls).toEqual([
      ['deliver', delivery],
      ['deliver', delivery],
      ['deliver', {}],
    ]);
  });

  test.each([
    ['/v3/deliver', 'instanceKey', {}],
    ['/v3/ask', 'id', {}],
    ['/v3/ask', 'client', {}],
    ['/v3/instances/delete', 'instanceKey', { agent: 'helper' }],
    ['/v3/instances/fork', 'as', { agent: 'helper', instanceKey: 'a' }],
    ['/v3/instances/fork', 'at', { agent: 'helper', instanceKey: 'a', as: 'b' }],
    ['/v3/cancel', 'reason', {}],
    ['/v3/cancel', 'eventId', {}],
    ['/v3/dead-letters/retry', 'eventId', { agent: 'helper', instanceKey: 'a' }],
    ['/v3/dead-letters/drop', 'agent', { eventId: 'a', instanceKey: 'a' }],
    ['/v3/questions/answer', 'note', { id: 'a', decision: 'denied', by: 'ann' }],
    ['/v3/questions/answer', 'id', { decision: 'denied', by: 'ann' }],
    ['/v3/grants/revoke', 'by', { id: 'a' }],
    ['/v3/restart', 'agent', {}],
  ])('%s refuses a NUL character and half of a surrogate pair in `%s`', async (path, field, body) => {
    for (const [odd, problem] of [
      ['a\0b', 'contains a NUL character'],
      ['a\ud800', 'contains half of a surrogate pair'],
    ] as const) {
      const message = `The body of the request: ${field} ${problem}.`;
      const refusal = await refusalOf('POST', path, { body: { ...body, [field]: odd } });
      expect(refusal.slice(0, 3)).toEqual([400, 'E_CONTROL_REQUEST', message]);
    }
    expect(served.swarm.calls).toEqual([]);
  });

  test('takes an input with any character', async () => {
    await answerTo('POST', '/v3/deliver', { body: { input: 'a\0b \ud800' } });
    expect(served.swarm.calls).toEqual([['deliver', { input: 'a\0b \ud800' }]]);
  });

  test('asks and waits for the end of the turn', async () => {
    const answer = answerTo('POST', '/v3/ask', { body: { id: 'e1', input: 'Hello' } });
    await until(() => served.swarm.running.length === 1);
    served.swarm.finish('e1', 'Hi there');
    expect(await answer).toMatchObject({ eventId: 'e1', result: { finishReason: 'text_response' }, stepCount: 1 });
  });

  test('passes on the other operations', async () => {
    const { swarm } = served;
    const choice = { agent: 'helper', instanceKey: 'a/b' };
    expect(await answerTo('POST', '/v3/cancel', { body: { ...choice, eventId: 'x', reason: 'Enough' } })).toEqual({
      cancelled: false,
    });
    expect(await answerTo('GET', '/v3/dead-letters?agent=helper&instanceKey=a%2Fb')).toMatchObject({
      deadLetters: [{ eventId: 'dead' }],
    });
    expect(await answerTo('GET', '/v3/dead-letters')).toMatchObject({ deadLetters: [{}] });
    await answerTo('GET', '/v3/dead-letters?agent=&instanceKey=');
    expect(await answerTo('POST', '/v3/dead-letters/retry', { body: { ...choice, eventId: 'dead' } })).toEqual({
      retried: true,
    });
    expect(await answerTo('POST', '/v3/dead-letters/drop', { body: { ...choice, eventId: 'x' } })).toEqual({
      dropped: false,
    });
    const deletion = { agent: 'helper', instanceKey: 'a/b', force: true };
    expect(await answerTo('POST', '/v3/instances/delete', { body: deletion })).toEqual({ inputs: 1 });
    const fork = { agent: 'helper', instanceKey: 'a/b', as: 'c' };
    expect(await answerTo('POST', '/v3/instances/fork', { body: fork })).toMatchObject({ seq: 7 });
    expect(await answerTo('POST', '/v3/restart', { body: { agent: 'helper', fresh: true } })).toEqual({ restarted: 2 });
    expect(await answerTo('POST', '/v3/reload', { body: {} })).toMatchObject({ changed: ['Agent/entry'] });
    expect(await answerTo('POST', '/v3/stop', { body: { graceMs: 5 } })).toEqual({ stopping: true });
    expect(swarm.calls).toEqual([
      ['cancel', { ...choice, eventId: 'x', reason: 'Enough' }],
      ['deadLetters', choice],
      ['deadLetters', {}],
      ['deadLetters', { agent: '', instanceKey: '' }],
      ['retryDeadLetter', { ...choice, eventId: 'dead' }],
      ['dropDeadLetter', { ...choice, eventId: 'x' }],
      ['deleteInstance', { ...choice, force: true }],
      ['forkInstance', { ...choice, as: 'c' }],
      ['restart', { agent: 'helper', fresh: true }],
      ['reload', {}],
      ['stop', { graceMs: 5 }],
    ]);
  });
});

describe('a rejection by the control socket', () => {
  test.each<[number, string, string, string]>([
    [404, 'There is no endpoint /.', 'GET', '/'],
    [404, 'There is no endpoint /swarm.', 'GET', '/swarm'],
    [404, 'There is no endpoint /v3.', 'GET', '/v3'],
    [404, 'There is no endpoint /v3/status/.', 'GET', '/v3/status/'],
    [404, 'There is no endpoint /v3/__proto__.', 'GET', '/v3/__proto__'],
    [405, '/v3/status supports GET, not POST.', 'POST', '/v3/status'],
    [405, '/v3/deliver supports POST, not OPTIONS.', 'OPTIONS', '/v3/deliver'],
    [405, '/v3/dead-letters supports GET, not DELETE.', 'DELETE', '/v3/dead-letters'],
  ])('%p for an unknown path or method: %s', async (status, message, method, at) => {
    const code = 'E_CONTROL_ENDPOINT';
    expect(await refusalOf(method, at)).toEqual([status, code, message, errorCatalogue[code].suggestion]);
  });

  test('lists the allowed methods', async () => {
    const { headers } = await served.request('PUT', '/v3/stop');
    expect(headers.get('allow')).toBe('POST');
  });

  test.each([
    ['/v1/swarm', '/v1'],
    ['/v0', '/v0'],
    ['/v11/deliver', '/v11'],
  ])('404 for another version, and says to restart the swarm: %s', async (at, version) => {
    const [status, code, message, suggestion] = await refusalOf('GET', at);
    expect([status, code, message]).toEqual([404, 'E_CONTROL_VERSION', `This swarm speaks /v3, not ${version}.`]);
    expect(suggestion).toContain('start it again');
  });

  test.each<[string, string, string, unknown]>([
    ['body is not JSON in UTF-8.', 'POST', '/v3/deliver', '{'],
    ['body: it is null, not an object.', 'POST', '/v3/deliver', 'null'],
    ['body: it is a list, not an object.', 'POST', '/v3/stop', '[]'],
    ['body: agent is 7, not a text.', 'POST', '/v3/deliver', { agent: 7 }],
    ['body: agent is "", not a text.', 'POST', '/v3/ask', { agent: '' }],
    ['body: input is null, not a text.', 'POST', '/v3/deliver', { input: null }],
    ['body: metadata is a list, not an object.', 'POST', '/v3/deliver', { metadata: [] }],
    ['body: auth is "root", not an object.', 'POST', '/v3/deliver', { auth: 'root' }],
    ['body: traceId is not 32 hexadecimal digits.', 'POST', '/v3/deliver', { traceId: 'x' }],
    ['body: parentSpanId is not 16 hexadecimal digits.', 'POST', '/v3/ask', { parentSpanId: 'x' }],
    [
      'body: agnet is unknown; known: agent, instanceKey, input, content, now, id, client, metadata, output, auth, traceId, parentSpanId, isSampled.',
      'POST',
      '/v3/deliver',
      { agnet: 'a' },
    ],
    ['body: __proto__ is unknown; known: graceMs, handover.', 'POST', '/v3/stop', '{"__proto__":{}}'],
    ['body: graceMs is -1, not a whole number of at least 0.', 'POST', '/v3/stop', { graceMs: -1 }],
    ['body: eventId is missing, not a text.', 'POST', '/v3/dead-letters/drop', { agent: 'a', instanceKey: 'b' }],
    ['body: instanceKey is missing, not a text.', 'POST', '/v3/instances/delete', { agent: 'a' }],
    ['body: fresh is "yes", neither true nor false.', 'POST', '/v3/restart', { fresh: 'yes' }],
    ['body: reason is {}, not a text.', 'POST', '/v3/cancel', { reason: {} }],
    ['body: cancelOnDisconnect is 1, neither true nor false.', 'POST', '/v3/ask', { cancelOnDisconnect: 1 }],
    ['query: verbose is unknown; known: none.', 'GET', '/v3/status?verbose=1', undefined],
    ['query: agent is there twice.', 'GET', '/v3/events?agent=a&agent=b', undefined],
    [
      'query: types[1] is "nonsense", not one of delta, runtime.event, turn.ended, log, question, instance, dropped.',
      'GET',
      '/v3/events?types=log,nonsense',
      undefined,
    ],
    ['query: cancelOnDisconnect is unknown; known: none.', 'POST', '/v3/ask?cancelOnDisconnect=true', {}],
  ])('400 names the field: %s', async (message, method, at, body) => {
    const expected = message.replace('is {},', 'is an object,').replace(/^(body|query)/, 'The $1 of the request');
    expect(await refusalOf(method, at, body === undefined ? {} : { body })).toEqual([
      400,
      'E_CONTROL_REQUEST',
      expected,
      errorCatalogue.E_CONTROL_REQUEST.suggestion,
    ]);
    expect(served.swarm.calls).toEqual([]);
  });

  test('400 for text that is not UTF-8, and for endless nesting', async () => {
    const bytes = await fetch('http://localhost/v3/deliver', {
      unix: served.path,
      method: 'POST',
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(bytes.status).toBe(400);
    const body = `{"metadata":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    const [status, code, message] = await refusalOf('POST', '/v3/deliver', { body });
    expect([status, code]).toEqual([400, 'E_CONTROL_REQUEST']);
    expect(String(message).length).toBeLessThan(500);
  });

  test('413 for a body that is too long, announced or not', async () => {
    const small = { body: { reason: 'x'.repeat(64_000) } };
    expect((await refusalOf('POST', '/v3/cancel', small)).slice(0, 2)).toEqual([413, 'E_CONTROL_REQUEST']);
    const large = { body: { input: 'x'.repeat(16_000_000) } };
    expect((await refusalOf('POST', '/v3/deliver', large)).slice(0, 2)).toEqual([413, 'E_CONTROL_REQUEST']);
    expect(await answerTo('POST', '/v3/deliver', { body: { input: 'x'.repeat(15_900_000) } })).toMatchObject({
      accepted: true,
    });
    const piece = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const unannounced = await served.connect(
      `POST /v3/cancel HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${piece}${piece}`,
    );
    await until(() => unannounced.received().includes('E_CONTROL_REQUEST'));
    expect(unannounced.received()).toStartWith('HTTP/1.1 413');
    await until(unannounced.isClosed);
  });

  test('413 comes before the body, however long it is', async () => {
    const connection = await served.connect(
      'POST /v3/deliver HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000000\r\n\r\n',
    );
    await until(() => connection.received().includes('E_CONTROL_REQUEST'));
    expect(connection.received()).toStartWith('HTTP/1.1 413');
  });

  test('429 when too many bytes are being read; there is room again afterwards', async () => {
    await using tight = await serveFakeSwarm({ limits: { mostBodyBytes: 100 } });
    const first = await tight.connect(
      `POST /v3/cancel HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n${' '.repeat(80)}`,
    );
    const refused = async () => (await tight.request('POST', '/v3/cancel', { body: ' '.repeat(60) })).status;
    await until(async () => (await refused()) === 429);
    first.end();
    await until(async () => (await refused()) !== 429);
    expect(await refused()).toBe(400);
  });

  test('408 for a body that does not arrive', async () => {
    const clock = manualClock();
    await using slow = await serveFakeSwarm({ clock });
    const connection = await slow.connect('POST /v3/cancel HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await until(() => clock.pending === 1);
    await clock.advance(30_000);
    await until(() => connection.received().includes('E_CONTROL_REQUEST'));
    expect(connection.received()).toStartWith('HTTP/1.1 408');
    expect(clock.pending).toBe(0);
  });

  test('400 for an invalid address', async () => {
    const connection = await served.connect('GET /v3/status HTTP/1.1\r\nHost: a b\r\n\r\n');
    await until(() => connection.received().includes('E_CONTROL_REQUEST'));
    expect(connection.received()).toStartWith('HTTP/1.1 400');
  });

  // Each code has one status, whatever part of the swarm reports it.
  test.each(Object.entries(controlStatusByCode))(
    'the swarm’s own error keeps its code: %s is %p',
    async (code, status) => {
      if (!isErrorCode(code)) throw new Error(code);
      expect(await refusedBySwarm(new GoondanError(code, 'No.', { suggestion: 'Do.' }))).toEqual([
        status,
        code,
        'No.',
        'Do.',
      ]);
    },
  );

  // The table above follows from the code, so it does not show that a code has a status.
  test('409 for an id that several turns have', async () => {
    const [status, code] = await refusedBySwarm(new GoondanError('E_TRACE_AMBIGUOUS', 'No.'));
    expect([status, code]).toEqual([409, 'E_TRACE_AMBIGUOUS']);
  });

  test('500 for a code without its own status', async () => {
    const [status, code] = await refusedBySwarm(new GoondanError('E_STORE_WRITE', 'No.'));
    expect([status, code]).toEqual([500, 'E_STORE_WRITE']);
  });

  test('429 says when to try again', async () => {
    served.swarm.failNext(new GoondanError('E_INBOX_FULL', 'Full.', { retryAfterMs: 2_500 }));
    expect((await served.request('POST', '/v3/deliver')).headers.get('retry-after')).toBe('3');
    served.swarm.failNext(new GoondanError('E_PROCESSES_FULL', 'Full.'));
    expect((await served.request('POST', '/v3/deliver')).headers.get('retry-after')).toBe('1');
  });

  test('hides an internal error, and reports it', async () => {
    for (const thrown of [new TypeError('password=hunter2'), 'hunter2', undefined, { toString: 1 }]) {
      served.swarm.failNext(thrown);
      const response = await served.request('GET', '/v3/status');
      const text = await response.text();
      expect(response.status).toBe(500);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'E_CONTROL_FAILED' } });
      expect(text).not.toMatch(/hunter2|at .*\.ts/);
      expect(served.reported.at(-1)).toBe(thrown);
    }
  });

  test('also follows an answer that cannot be written', async () => {
    served.swarm.status = async () => ({ ...fakeStatus, pid: 1n as unknown as number });
    expect((await refusalOf('GET', '/v3/status')).slice(0, 2)).toEqual([500, 'E_CONTROL_FAILED']);
  });

  test('has no answer for a page in a browser', async () => {
    const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'POST' };
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const response = await served.request(method, '/v3/status', { headers });
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  async function refusedBySwarm(error: GoondanError): Promise<unknown[]> {
    served.swarm.failNext(error);
    return refusalOf('POST', '/v3/deliver', { body: {} });
  }
});

describe('the end of the control socket', () => {
  test('after it has left its path, open requests are answered, and the socket of the next owner stays', async () => {
    const { swarm, server, path } = served;
    const held = Promise.withResolvers<void>();
    swarm.holdNext(held.promise);
    const earlier = answerTo('GET', '/v3/instances');
    await until(() => server.open === 1);
    server.leave();
    expect(existsSync(path)).toBe(false);
    await using next = await serveFakeSwarm({ path });
    held.resolve();
    expect(await earlier).toEqual({ instances: fakeStatus.instances });
    await server.close();
    expect(next.server.path).toBe(path);
    expect(await answerTo('GET', '/v3/status')).toEqual(fakeStatus);
  });

  test('earlier requests are answered, and the socket is gone', async () => {
    const { swarm, server, path } = served;
    swarm.holdNext(new Promise(() => undefined));
    const instances = refusalOf('GET', '/v3/instances');
    const ask = refusalOf('POST', '/v3/ask', { body: { id: 'e1' } });
    await until(() => server.open === 2);
    await Promise.all([server.close(), server.close()]);
    expect((await instances).slice(0, 2)).toEqual([503, 'E_CONTROL_CLOSED']);
    expect((await ask).slice(0, 2)).toEqual([503, 'E_CONTROL_CLOSED']);
    expect(server.open).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test('a streamed turn that is not accepted yet is given up when the socket closes', async () => {
    const { swarm, server } = served;
    swarm.holdNext(new Promise(() => undefined));
    const ask = refusalOf('POST', '/v3/ask', { body: { id: 'e1' }, headers: { Accept: 'text/event-stream' } });
    await until(() => swarm.calls.length === 1);
    await server.close();
    expect((await ask).slice(0, 2)).toEqual([503, 'E_CONTROL_CLOSED']);
  });

  test('a stop is answered before the socket goes away', async () => {
    const { swarm, server } = served;
    // This swarm stops at once.
    swarm.stop = () => server.close();
    expect(await answerTo('POST', '/v3/stop')).toEqual({ stopping: true });
    await server.close();
  });

  test('a failed stop is reported', async () => {
    served.swarm.stop = () => Promise.reject(new Error('Stuck.'));
    expect(await answerTo('POST', '/v3/stop')).toEqual({ stopping: true });
    await until(() => served.reported.length === 1);
  });

  test('a client that does not read cannot delay it', async () => {
    const stuck = await served.connect('GET /v3/events HTTP/1.1\r\nHost: x\r\n\r\n', { reads: false });
    await until(() => served.swarm.watching === 1);
    served.swarm.tell({ type: 'log', line: { ...line, message: 'x'.repeat(4_000_000) } });
    await served.server.close();
    expect(served.swarm.watching).toBe(0);
    stuck.end();
  });
});

const line = {
  time: '2026-01-01T00:00:00.000Z',
  level: 'info',
  message: '',
  agent: 'entry',
  instance: 'default',
} as const;

async function answerTo(method: string, at: string, options?: RequestOptions): Promise<unknown> {
  const response = await served.request(method, at, options);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json;charset=utf-8']);
  return response.json();
}

/** Returns status, code, message and suggestion, and nothing else. */
async function refusalOf(method: string, at: string, options?: RequestOptions): Promise<unknown[]> {
  const response = await served.request(method, at, options);
  const body = (await response.json()) as { error: { code: ErrorCode; message: string; suggestion: string } };
  const { code, message, suggestion } = body.error;
  expect(Object.keys(body)).toEqual(['error']);
  return [response.status, code, message, suggestion];
}
