import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { encodeEvent } from '@goondan/types/http';
import { memoryInUse } from '../../../../../test/memory-in-use.ts';
import { sampleStep } from '../../../../../test/samples.ts';
import type { SwarmNotice } from '../../control/swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { type RawConnection, type ServedSwarm, serveFakeSwarm } from '../../testing/serve-fake-swarm.ts';
import { controlLimits } from './control-limits.ts';
import { openStream } from './event-stream.ts';
import { openHost } from './open-host.ts';
import { until } from '../../../../../test/until.ts';

let served: ServedSwarm;

beforeEach(async () => {
  served = await serveFakeSwarm();
});

afterEach(() => served.close());

const asStream = { Accept: 'text/event-stream' };
const watching = 'GET /v3/events HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a stream of notices', () => {
  test('has an event and a line of JSON for each notice', async () => {
    const response = await served.request('GET', '/v3/events?agent=a&instanceKey=k&eventId=e&types=delta,log');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(served.swarm.calls).toEqual([
      ['watch', { agent: 'a', instanceKey: 'k', eventId: 'e', types: ['delta', 'log'] }],
    ]);
    served.swarm.tell(delta('one\ntwo'));
    served.swarm.tell({ type: 'dropped', count: 3 });
    await served.server.close();
    expect(await response.text()).toBe(
      [
        ': watching\n\n',
        `event: delta\ndata: ${JSON.stringify(delta('one\ntwo'))}\n\n`,
        'event: dropped\ndata: {"type":"dropped","count":3}\n\n',
        'event: stopped\ndata: {}\n\n',
      ].join(''),
    );
  });

  test('is kept alive by a comment every 15 s, as long as it has a reader', async () => {
    const clock = manualClock();
    await using quiet = await serveFakeSwarm({ clock });
    const reader = await quiet.connect(watching);
    await until(() => reader.received().includes(': watching'));
    await clock.advance(14_999);
    expect(reader.received()).not.toContain('\n:\n\n');
    await clock.advance(1);
    await until(() => reader.received().split('\n:\n\n').length === 2);
    await clock.advance(15_000);
    await until(() => reader.received().split('\n:\n\n').length === 3);
    reader.end();
    await until(() => quiet.server.open === 0);
    expect(clock.pending).toBe(0);
  });

  test('ends for the swarm when its reader is gone', async () => {
    const readers = await Promise.all(Array.from({ length: 50 }, () => served.connect(watching)));
    await until(() => served.swarm.watching === 50 && served.server.open === 50);
    for (const reader of readers) reader.end();
    await until(() => served.swarm.watching === 0 && served.server.open === 0);
  });

  test('leaves nothing behind of readers that were gone before it began', async () => {
    const clock = manualClock();
    await using stormy = await serveFakeSwarm({ clock });
    for (let round = 0; round < 300; round++) (await stormy.connect(watching)).end();
    await until(() => stormy.server.open === 0 && stormy.swarm.watching === 0);
    // This waits a moment, in case more readers appear late.
    await Bun.sleep(50);
    expect([stormy.swarm.watching, stormy.server.open, clock.pending]).toEqual([0, 0, 0]);
  });

  test('is rejected when too many are open, and so is a waiting request; other operations are not', async () => {
    await using small = await serveFakeSwarm({ limits: { mostOpen: 3 } });
    const readers = [await small.connect(watching), await small.connect(watching)];
    await until(() => small.server.open === 2);
    void small.request('POST', '/v3/ask', { body: { id: 'e1' } }).then(undefined, () => undefined);
    await until(() => small.server.open === 3);
    for (const [method, at, headers] of [
      ['GET', '/v3/events', {}],
      ['POST', '/v3/ask', {}],
      ['POST', '/v3/ask', asStream],
    ] as const) {
      const refused = await small.request(method, at, { headers });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await refused.json()).toMatchObject({ error: { code: 'E_CONTROL_FULL', retryable: true } });
    }
    for (const order of ['/v3/deliver', '/v3/cancel', '/v3/stop']) {
      expect((await small.request('POST', order)).status).toBe(200);
    }
    readers[0]?.end();
    await until(() => small.server.open === 2);
    expect((await small.request('GET', '/v3/events', { signal: AbortSignal.timeout(10_000) })).status).toBe(200);
  });
});

describe('an event stream', () => {
  const parts = { limits: controlLimits, clock: manualClock(), streams: new Map() };
  const never = new AbortController().signal;

  test('ends when its reader has enough', async () => {
    const stream = openStream(parts, never);
    let over = 0;
    stream.onOver(() => (over += 1));
    await stream.response().body?.cancel();
    stream.onOver(() => (over += 1));
    expect([over, parts.clock.pending]).toEqual([2, 0]);
  });

  test('ends when its reader was gone before', async () => {
    const stream = openStream(parts, AbortSignal.abort());
    let isOver = false;
    stream.onOver(() => (isOver = true));
    stream.send(encodeEvent({}, 'log'));
    expect(isOver).toBe(true);
    expect(stream.response().text()).rejects.toThrow('does not keep up');
    expect(parts.clock.pending).toBe(0);
  });

  test('sends nothing after its end', async () => {
    const stream = openStream(parts, never);
    const text = stream.response().text();
    stream.send(encodeEvent(1, 'log'));
    stream.end(encodeEvent(2, 'stopped'));
    stream.send(encodeEvent(3, 'log'));
    stream.end(encodeEvent(4, 'stopped'));
    expect(await text).toBe('event: log\ndata: 1\n\nevent: stopped\ndata: 2\n\n');
    expect(parts.clock.pending).toBe(0);
  });
});

describe('a slow reader', () => {
  test('loses deltas, log lines and runtime events, and gets their number, but no end of a turn; memory does not grow', async () => {
    const reader = await served.connect(watching, { reads: false });
    await until(() => served.swarm.watching === 1);
    const before = memoryInUse();
    const most = sampleStep === 1 ? 40_000 : 20_000;
    for (let number = 0; number < most; number++) {
      served.swarm.tell(delta(`${number} ${'x'.repeat(10_000)}`));
      if (number % (most / 100) === 0) served.swarm.tell(turnEnded(`end-${number}`));
      // This lets the server run.
      if (number % 100 === 0) await Bun.sleep(0);
    }
    // The server has sent at least 200 MB of notices by now.
    expect(memoryInUse() - before).toBeLessThan(150_000_000);
    expect(served.swarm.watching).toBe(1);
    expect(served.reported).toEqual([]);

    reader.read();
    served.swarm.tell(delta('last'));
    await until(() => reader.received().includes('"text":"last"'));
    const events = readAll(reader);
    expect(events.filter(({ type }) => type === 'turn.ended')).toHaveLength(100);
    const deltas = events.filter(({ type }) => type === 'delta').length;
    const dropped = events.reduce((sum, notice) => sum + (notice.type === 'dropped' ? notice.count : 0), 0);
    expect(dropped).toBeGreaterThan(0);
    expect(deltas + dropped).toBe(most + 1);
    // The limit leaves room for 1 MB in the queue, and for the buffers of the sockets.
    expect(deltas * 10_000).toBeLessThan(5_000_000);
  }, 60_000);

  test('is disconnected when too many notices that must arrive are waiting', async () => {
    const reader = await served.connect(watching, { reads: false });
    await until(() => served.swarm.watching === 1);
    for (let number = 0; served.swarm.watching === 1; number++) {
      served.swarm.tell(turnEnded(`end-${number}`, 'x'.repeat(10_000)));
      if (number > 5_000) throw new Error('It is never given up.');
      await Bun.sleep(0);
    }
    expect(served.server.open).toBe(0);
    reader.read();
    await until(reader.isClosed);
    expect(reader.received()).not.toContain('stopped');
    expect((await served.request('GET', '/v3/status')).status).toBe(200);
  });

  test('does not delay others', async () => {
    await served.connect(watching, { reads: false });
    const reader = await served.connect(watching);
    await until(() => served.swarm.watching === 2);
    for (let number = 0; number < 100; number++) {
      served.swarm.tell(delta(`<${number}>${'x'.repeat(50_000)}`));
      await until(() => reader.received().includes(`<${number}>`));
    }
    expect(readAll(reader).filter(({ type }) => type === 'dropped')).toEqual([]);
  });
});

describe('200 watchers that never read', () => {
  /** Opens streams of one host, and returns their bodies. */
  function openMany() {
    const host = openHost({ clock: manualClock() }, () => 0);
    const open = () => {
      const stream = openStream(host, new AbortController().signal);
      return { stream, body: stream.response() };
    };
    return { open, many: Array.from({ length: 200 }, open) };
  }
  /** Reads to the end. Returns what was queued; `undefined` if the watcher was disconnected. */
  const drain = ({ stream, body }: ReturnType<ReturnType<typeof openMany>['open']>) => {
    stream.end();
    return body.text().catch(() => undefined);
  };
  const sizeOf = (texts: readonly (string | undefined)[]) => texts.reduce((sum, text = '') => sum + text.length, 0);
  const most = controlLimits.stream.mostWaitingBytes + controlLimits.stream.mostLossyBytes;

  test('hold a bounded number of bytes together; lossy notices are dropped and counted', async () => {
    const { many } = openMany();
    const notice = encodeEvent('x'.repeat(8_000), 'delta');
    for (let n = 0; n < 200; n++) for (const { stream } of many) stream.send(notice, 'delta');
    const texts = await Promise.all(many.map(drain));
    expect(sizeOf(texts)).toBeLessThan(16_000_000);
    for (const text of texts) {
      const [, dropped = '0'] = /"count":(\d+)/.exec(text ?? '') ?? [];
      expect(Number(dropped) + (text?.split('event: delta').length ?? 0) - 1).toBe(200);
    }
  });

  test('hold a bounded number of small notices together, because each takes memory besides its bytes', async () => {
    const { many } = openMany();
    const notice = encodeEvent('x', 'delta');
    for (let n = 0; n < 1_000; n++) for (const { stream } of many) stream.send(notice, 'delta');
    const texts = await Promise.all(many.map(drain));
    const held = texts.reduce((sum, text = '') => sum + text.split('event: delta').length - 1, 0);
    expect(held).toBeLessThan(16_777_216 / 200);
  });

  test('hold a bounded number of bytes together; those for which most is queued are disconnected', async () => {
    const { open, many } = openMany();
    const reading = open();
    const read = reading.body.text();
    const few = open();
    const notice = encodeEvent('x'.repeat(100_000), 'turn.ended');
    few.stream.send(notice);
    for (let n = 0; n < 30; n++) {
      for (const { stream } of [...many, reading]) stream.send(notice);
      await Bun.sleep(0);
    }
    const texts = await Promise.all(many.map(drain));
    const left = texts.filter((text) => text !== undefined);
    expect(sizeOf(texts)).toBeLessThan(32_000_000);
    expect(sizeOf(texts)).toBeGreaterThan(most);
    // Each of the others still gets everything, also one that reads.
    for (const text of left) expect(text.length).toBe(30 * notice.length);
    reading.stream.end();
    expect((await read).length).toBe(30 * notice.length);
    expect((await drain(few))?.length).toBe(notice.length);
  });

  test('leave room for others when they are gone', async () => {
    const { open, many } = openMany();
    for (const { body } of many) await body.body?.cancel();
    const last = open();
    const notice = encodeEvent('x'.repeat(1_000), 'delta');
    for (let n = 0; n < 800; n++) last.stream.send(notice, 'delta');
    expect((await drain(last))?.length).toBe(800 * notice.length);
  });
});

describe('an ask as a stream', () => {
  test('sends accepted, the notices of the turn, and its end, once', async () => {
    const reader = await post('/v3/ask', { id: 'e1' });
    await until(() => reader.received().includes('event: accepted'));
    served.swarm.tell(delta('Hi', 'e1'));
    served.swarm.tell(delta('other', 'e2'));
    served.swarm.finish('e1', 'Hi there');
    await until(() => reader.received().includes('event: ended'));
    expect(reader.received().match(/(?<=event: ).+/g)).toEqual(['accepted', 'delta', 'ended']);
    expect(served.swarm.calls).toEqual([['ask', { id: 'e1' }]]);
    await until(() => served.server.open === 0);
  });

  test('is rejected like any other request when it is not accepted', async () => {
    served.swarm.failNext(new GoondanError('E_INBOX_FULL', 'Full.'));
    const refused = await served.request('POST', '/v3/ask', { headers: asStream, body: {} });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'application/json;charset=utf-8']);
    expect(await refused.json()).toMatchObject({ error: { code: 'E_INBOX_FULL' } });
    expect(served.server.open).toBe(0);
  });

  test.each([
    ['its own', new GoondanError('E_DISK_FULL', 'Full.'), { code: 'E_DISK_FULL', message: 'Full.' }],
    [
      'a foreign one',
      new Error('hunter2'),
      { code: 'E_CONTROL_FAILED', message: 'The turn failed inside the orchestrator.' },
    ],
  ])('ends with the error when it fails after its acceptance: %s', async (_, error, shown) => {
    const reader = await post('/v3/ask', { id: 'e1' });
    await until(() => reader.received().includes('event: accepted'));
    served.swarm.fail('e1', error);
    await until(() => reader.received().includes('event: error'));
    const [, data = ''] = /event: error\ndata: (.+)/.exec(reader.received()) ?? [];
    expect(JSON.parse(data)).toMatchObject({ error: shown });
    expect(reader.received()).not.toContain('hunter2');
  });

  test('ends with an error when the swarm stops first', async () => {
    const reader = await post('/v3/ask', { id: 'e1' });
    await until(() => reader.received().includes('event: accepted'));
    await served.server.close();
    await until(() => reader.received().includes('E_CONTROL_CLOSED'));
    expect(served.swarm.cancelled).toEqual([]);
  });
});

describe('a client that leaves before the end of its turn', () => {
  const clock = manualClock();

  beforeEach(async () => {
    await served.close();
    served = await serveFakeSwarm({ clock });
  });

  const leave = async (body: object, accept: string, when: 'accepted' | 'waiting'): Promise<void> => {
    const accepted = Promise.withResolvers<void>();
    if (when === 'waiting') served.swarm.holdNext(accepted.promise);
    const client = await post('/v3/ask', body, { accept });
    await until(() => (when === 'waiting' ? served.swarm.calls.length : served.swarm.running.length) === 1);
    client.end();
    await until(() => served.server.open === 0);
    accepted.resolve();
  };

  test.each([
    ['text/event-stream', 'accepted'],
    ['text/event-stream', 'waiting'],
    ['*/*', 'accepted'],
    ['*/*', 'waiting'],
  ] as const)('leaves the turn running: as %s when %s', async (accept, when) => {
    await leave({ id: 'e1' }, accept, when);
    await until(() => served.swarm.running.length === 1);
    // This notice has no reader any more, which must not cause an error.
    served.swarm.tell(delta('Hi', 'e1'));
    served.swarm.finish('e1', 'Hi');
    await Bun.sleep(20);
    expect([served.swarm.cancelled, served.swarm.running, served.reported]).toEqual([[], [], []]);
    expect([served.server.open, clock.pending]).toEqual([0, 0]);
  });

  test.each(['text/event-stream', '*/*'])('cancels the turn if requested: as %s', async (accept) => {
    await leave({ id: 'e1', cancelOnDisconnect: true }, accept, 'accepted');
    await until(() => served.swarm.cancelled.length === 1);
    expect(served.swarm.cancelled).toEqual(['e1']);
  });

  test('cancels no finished turn', async () => {
    const client = await post('/v3/ask', { id: 'e1', cancelOnDisconnect: true }, { reads: false });
    await until(() => served.swarm.running.length === 1);
    const { options } = served.swarm.askers.get('e1') ?? {};
    served.swarm.finish('e1', 'x'.repeat(4_000_000));
    // The client disconnects while the end of the stream is still being sent. Then the server gets time to notice.
    await Bun.sleep(20);
    client.end();
    await Bun.sleep(50);
    expect(options?.signal?.aborted).toBe(false);
  });
});

describe('many concurrent asks', () => {
  test('get their own answers', async () => {
    const ids = Array.from({ length: 200 }, (_, number) => `e${number}`);
    const answers = ids.map(async (id, number) => {
      const headers = number % 2 === 0 ? asStream : {};
      const response = await served.request('POST', '/v3/ask', { body: { id }, headers });
      return response.text();
    });
    await until(() => served.swarm.running.length === ids.length);
    for (const id of ids.toReversed()) served.swarm.finish(id, `answer to ${id}.`);
    (await Promise.all(answers)).forEach((text, number) => {
      expect(text.match(/(?<=answer to )e\d+(?=\.)/g)).toEqual([`e${number}`]);
    });
    expect([served.server.open, served.swarm.running]).toEqual([0, []]);
  });
});

describe('a stop as a stream', () => {
  test('sends stopping, and stopped when nothing is left', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    served.swarm.stop = () => promise;
    const reader = await post('/v3/stop');
    await until(() => reader.received().includes('event: stopping'));
    expect(reader.received()).not.toContain('event: stopped');
    resolve();
    await until(() => reader.received().includes('event: stopped'));
  });

  test('sends stopped when the socket closes first', async () => {
    served.swarm.stop = () => new Promise(() => undefined);
    const reader = await post('/v3/stop');
    await until(() => reader.received().includes('event: stopping'));
    await served.server.close();
    await until(() => reader.received().includes('event: stopped'));
  });

  test('sends the error', async () => {
    served.swarm.stop = () => Promise.reject(new GoondanError('E_STORE_WRITE', 'No.'));
    const reader = await post('/v3/stop');
    await until(() => reader.received().includes('E_STORE_WRITE'));
  });
});

async function post(at: string, asked: object = {}, { accept = 'text/event-stream', reads = true } = {}) {
  const body = JSON.stringify(asked);
  return served.connect(
    `POST ${at} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    { reads },
  );
}

/** Returns every notice so far, without the chunk sizes of HTTP. */
function readAll(reader: RawConnection): SwarmNotice[] {
  const lines = reader.received().match(/(?<=^data: ).+$/gm) ?? [];
  return lines.map((line) => JSON.parse(line) as SwarmNotice);
}

function delta(text: string, eventId = 'e'): SwarmNotice {
  const at = { agent: 'entry', instanceKey: 'default' };
  return { type: 'delta', at, eventId, delta: { type: 'text', text, turnId: 't', stepId: 's', stepIndex: 0 } };
}

function turnEnded(eventId: string, message = ''): SwarmNotice {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const result = { turnId: 't', finishReason: 'error', error: { message } } as const;
  const where = { agent: 'entry', instanceKey: 'default', eventId, traceId: 't' };
  return { type: 'turn.ended', end: { ...where, result, stepCount: 1, usage } };
}
