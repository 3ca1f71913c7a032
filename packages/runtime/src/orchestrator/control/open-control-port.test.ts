import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { memoryInUse } from '../../../../../test/memory-in-use.ts';
import { samples, testInProof } from '../../../../../test/samples.ts';
import { connectNode } from '../../control/connect-swarm.ts';
import { parseAddress } from '../../control/fetch-node.ts';
import { operationNames, operations } from '../../control/operations.ts';
import type { Acceptance, Swarm, SwarmNotice } from '../../control/swarm.ts';
import { fakeQuestion, fakeStatus } from '../../testing/fake-control.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { type FakeNode, serveFakeNode } from '../../testing/serve-fake-node.ts';
import { openControlPort } from './open-control-port.ts';
import { portLimits } from './port-limits.ts';
import { until } from '../../../../../test/until.ts';

let node: FakeNode;

beforeEach(() => {
  node = serveFakeNode();
});

afterEach(() => node.close());

const delta = (text: string): SwarmNotice => ({
  type: 'delta',
  at: { agent: 'entry', instanceKey: 'default' },
  eventId: 'e1',
  delta: { type: 'text', text, turnId: 'turn-e1', stepId: 's1', stepIndex: 0 },
});

async function refusalOf(action: Promise<unknown>): Promise<GoondanError> {
  const error: unknown = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!GoondanError.is(error)) throw new Error(`Not refused: ${String(error)}`);
  return error;
}

describe('the control port of a node', () => {
  test('S-08 answers every operation over TLS as the control socket does', async () => {
    const client = await node.connect('operate');
    expect(await client.status()).toEqual(fakeStatus);
    expect(await client.deliver({ input: 'Grüße', id: 'e9' })).toMatchObject({ accepted: true, eventId: 'e9' });
    expect(await client.questions()).toEqual([fakeQuestion]);
    const accepted: Acceptance[] = [];
    const notices: SwarmNotice[] = [];
    const asked = client.ask(
      { input: 'Hello', id: 'e1' },
      { onAccepted: (acceptance) => accepted.push(acceptance), onNotice: (notice) => notices.push(notice) },
    );
    await until(() => accepted.length === 1);
    const watched: SwarmNotice[] = [];
    const watch = await client.watch({ types: ['delta'] }, (notice) => watched.push(notice));
    const long = 'é'.repeat(300_000);
    for (const text of ['one', long, 'three']) node.swarm.tell(delta(text));
    await until(() => notices.length === 3 && watched.length === 3);
    expect(notices).toEqual(['one', long, 'three'].map(delta));
    expect(watched).toEqual(notices);
    node.swarm.finish('e1', 'Done.');
    expect(await asked).toMatchObject({ eventId: 'e1', result: { finishReason: 'text_response' } });
    watch.end();
    await watch.ended;
    await until(() => node.swarm.watching === 0);
  });

  test('passes on the error of the swarm with its code', async () => {
    const client = await node.connect('operate');
    node.swarm.failNext(new GoondanError('E_INSTANCE_UNKNOWN', 'There is none.'));
    expect(await refusalOf(client.deleteInstance({ agent: 'a', instanceKey: 'k' }))).toMatchObject({
      code: 'E_INSTANCE_UNKNOWN',
      message: 'There is none.',
    });
  });

  test('rejects a request without a token and with a wrong one, before it does anything', async () => {
    expect((await refusalOf(node.connect('wrong'))).code).toBe('E_CLUSTER_TOKEN');
    expect((await refusalOf(node.connect(''))).code).toBe('E_CLUSTER_TOKEN');
    expect((await refusalOf(node.connect('a\r\nX: y'))).code).toBe('E_CLUSTER_TOKEN');
    const { status, body } = await raw('GET /v3/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(status).toBe(401);
    expect(body).toContain('E_CLUSTER_TOKEN');
    expect(node.swarm.calls).toEqual([]);
    expect(node.checked).toEqual(['wrong']);
    expect(node.warnings).toEqual(['127.0.0.1 sent a wrong token to the control port.']);
  });

  test('names the node whose token is wrong, if the node passes on a request', async () => {
    const refusal = await refusalOf(node.connect('wrong', 'node-2'));
    expect(refusal.code).toBe('E_CLUSTER_TOKEN');
    expect(refusal.message).toContain('refuses the token of node "node-2", which passed the request on');
  });

  test('says in words what a token with the scope read may not do', async () => {
    const reader = await node.connect('read');
    expect((await refusalOf(reader.ask({ input: 'x' }))).message).toBe(
      'The token "bob" has the scope read, and sending input needs the scope operate.',
    );
  });

  test('lets a token with the scope read use exactly the operations that read', async () => {
    const statuses = new Map<string, number>();
    for (const name of operationNames) {
      const { method, path } = operations[name];
      const head = `${method} /v3${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\nContent-Length: 0\r\n`;
      statuses.set(name, (await raw(`${head}Connection: close\r\n\r\n`)).status);
    }
    const allowed = [...statuses].filter(([, status]) => status === 200).map(([name]) => name);
    expect(allowed).toEqual(['status', 'instances', 'watch', 'deadLetters', 'questions', 'grants']);
    expect([...statuses].filter(([name]) => !allowed.includes(name)).map(([, status]) => status)).toEqual(
      Array.from({ length: operationNames.length - allowed.length }, () => 403),
    );
    expect(node.swarm.calls.map(([name]) => name)).toEqual(allowed);
  });

  test('answers questions in the name of the token, whatever name the client sends', async () => {
    const client = await node.connect('operate');
    await client.answer({ id: fakeQuestion.id, by: 'the boss', decision: 'approved' });
    await client.answer({ id: fakeQuestion.id, decision: 'denied', by: 'ann' });
    expect(node.swarm.calls.filter(([name]) => name !== 'status')).toEqual([
      ['answer', { id: fakeQuestion.id, by: 'ann', decision: 'approved' }],
      ['answer', { id: fakeQuestion.id, by: 'ann', decision: 'denied' }],
    ]);
  });

  test('S-08 answers a request that another node passes on from this node alone', async () => {
    const relayed = await node.connect('operate', 'nœud 2');
    await relayed.instances();
    expect(node.local.calls.map(([name]) => name)).toEqual(['status', 'instances']);
    expect(node.swarm.calls).toEqual([]);
  });

  test('rejects requests until the node serves', async () => {
    const port = openControlPort({ node: 'node-2' });
    expect(await refusalOf(connectNode({ ...port, token: 'operate' }))).toMatchObject({
      code: 'E_CONTROL_CLOSED',
      message: 'Node "node-2" is starting.',
    });
    await port.close();
  });

  test('ends the streams of a token that was removed, and leaves those of others', async () => {
    const quick = serveFakeNode({ portLimits: { recheckMs: 20 } });
    const [ann, bob] = [await quick.connect('operate'), await quick.connect('read')];
    const kept = await ann.watch({}, () => undefined);
    const ended = await bob.watch({}, () => undefined);
    const before = quick.checked.length;
    await until(() => quick.checked.length > before + 4);
    expect(quick.swarm.watching).toBe(2);
    quick.remove('read');
    await ended.ended;
    await until(() => quick.swarm.watching === 1);
    kept.end();
    await until(() => quick.swarm.watching === 0);
    await quick.close();
  });

  test('says that an address is in use, or is not an address', async () => {
    const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
    const taken = () => openControlPort({ node: 'node-2', listen: `127.0.0.1:${other.port}` });
    expect(taken).toThrow(`The control port cannot listen at 127.0.0.1:${other.port}`);
    other.stop(true);
    expect(() => openControlPort({ node: 'node-2', listen: 'nowhere' })).toThrow('host:port');
  });

  test('does not share its port with another node, at this address or at all of them', async () => {
    const { port } = parseAddress(node.port.address);
    for (const host of ['127.0.0.1', '0.0.0.0', 'localhost']) {
      const refused = refusalOf(Promise.try(() => openControlPort({ node: 'node-2', listen: `${host}:${port}` })));
      expect(await refused).toMatchObject({
        code: 'E_CONTROL_PATH',
        message: `The control port cannot listen at ${host}:${port}: another program has this port.`,
      });
    }
  });

  test('tells other machines an address that they can use', async () => {
    const port = openControlPort({ node: 'node-2', listen: '0.0.0.0:0' });
    const { host } = parseAddress(port.address);
    expect(host).not.toBe('0.0.0.0');
    await port.close();
  });

  test('ends streams when it closes, and reports that to their readers', async () => {
    const client = await node.connect('operate');
    const watch = await client.watch({}, () => undefined);
    await node.close();
    await watch.ended;
    expect((await refusalOf(client.status())).code).toBe('E_CONTROL_CLOSED');
  });
});

describe('a client of a node', () => {
  test('sends nothing to a foreign certificate', async () => {
    const other = serveFakeNode();
    const place = { ...node.port, certificate: other.port.certificate, token: 'operate' };
    expect((await refusalOf(connectNode(place))).code).toBe('E_CLUSTER_CERTIFICATE');
    expect(node.checked).toEqual([]);
    expect(node.swarm.calls).toEqual([]);
    await other.close();
  });

  test('reports a port on which nobody listens, or that does not speak TLS', async () => {
    await node.close();
    const gone = { address: node.port.address, certificate: node.port.certificate, token: 'operate' };
    expect(await refusalOf(connectNode(gone))).toMatchObject({ code: 'E_CONTROL_CLOSED' });
    const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hi') });
    const place = { ...gone, address: `127.0.0.1:${plain.port}` };
    expect(await refusalOf(connectNode(place))).toMatchObject({ code: 'E_CONTROL_CLOSED' });
    await plain.stop(true);
  });

  test('can leave a turn without ending it, and join it again', async () => {
    const client = await node.connect('operate');
    const left = new AbortController();
    const asked = client.ask({ id: 'e1' }, { left: left.signal });
    await until(() => node.swarm.running.length === 1);
    left.abort(new GoondanError('E_FENCED', 'It moved.'));
    expect((await refusalOf(asked)).code).toBe('E_FENCED');
    expect(node.swarm.cancelled).toEqual([]);
    expect(node.swarm.running).toEqual(['e1']);
  });
});

describe('an attack on the control port', () => {
  let client: Swarm;
  beforeEach(async () => {
    client = await node.connect('operate');
  });

  const rounds = samples(20, 20);

  test(`${rounds * 50} garbage requests are refused, and the node lives`, async () => {
    const seeds = [
      'GET / HTTP/9.9',
      '\0\u0001\u0002',
      'POST /v3/deliver HTTP/1.1\r\nAuthorization: Bearer',
      '{}',
      'A'.repeat(999),
    ];
    const before = memoryInUse();
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const garbage = `${seeds[n % seeds.length]}${n % 2 === 0 ? ` ${round}` : ''}\r\n\r\n`;
          const { status } = await raw(garbage, { isTls: n % 4 !== 0, endAfterMs: 300 });
          expect(status).not.toBe(200);
        }),
      );
    }
    expect(await client.status()).toEqual(fakeStatus);
    expect(node.swarm.calls.filter(([name]) => name !== 'status')).toEqual([]);
    expect(node.reported).toEqual([]);
    expect(memoryInUse() - before).toBeLessThan(64_000_000);
  }, 60_000);

  test('wrong tokens cost few checks, and do not slow down a right one', async () => {
    // The clock stands still, so that the speed of the machine decides nothing: a check that is slowed down waits.
    const clock = manualClock();
    const slowed = serveFakeNode({ clock });
    const right = await slowed.connect('operate');
    expect(await right.status()).toEqual(fakeStatus);
    let answered = 0;
    const wrong = Array.from({ length: 300 }, async (_, n) => {
      const guess = `GET /v3/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess${n}\r\nConnection: close\r\n\r\n`;
      const { status } = await raw(guess, { at: slowed });
      answered += 1;
      return status;
    });
    await until(() => answered >= 300 - portLimits.mostChecksOfAddress);
    expect(await right.status()).toEqual(fakeStatus);
    await clock.advance(portLimits.slowestMs);
    expect(new Set(await Promise.all(wrong))).toEqual(new Set([401, 429]));
    expect(slowed.checked.length).toBeLessThan(60);
    expect(await right.status()).toEqual(fakeStatus);
    await slowed.close();
  }, 30_000);

  test('a huge body without a right token is not read', async () => {
    const head =
      'POST /v3/deliver HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nContent-Length: 900000000\r\n\r\n';
    const more = 64_000_000;
    const sent = await Promise.all(Array.from({ length: 8 }, () => raw(head, { more, endAfterMs: 5_000 })));
    for (const { status, written } of sent) {
      expect([0, 401, 429]).toContain(status);
      // What the buffers of the system hold was sent, too.
      expect(written).toBeLessThan(more / 2);
    }
    expect(await client.status()).toEqual(fakeStatus);
  }, 30_000);

  test('headers of 100 kB are refused', async () => {
    const { status } = await raw(`GET /v3/status HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
    expect(status).toBe(431);
  });

  test('plain HTTP on the port gets no answer', async () => {
    const { received } = await raw('GET /v3/status HTTP/1.1\r\nHost: x\r\n\r\n', { isTls: false });
    expect(received).not.toContain('HTTP/1.1 200');
  });

  // Bun closes these connections after about ten seconds.
  testInProof(
    'connections that never finish their handshake, their headers or their token are closed',
    async () => {
      const strangers = Array.from({ length: 20 }, () => [
        raw('', { isTls: false }),
        raw(''),
        raw('GET /v3/status HTTP/1.1\r\nX: ', { drip: 'x' }),
      ]);
      // An admitted stream stays open meanwhile.
      const admitted: SwarmNotice[] = [];
      await client.watch({}, (notice) => admitted.push(notice));
      for (const { status } of await Promise.all(strangers.flat())) expect(status).not.toBe(200);
      node.swarm.tell(delta('still there'));
      await until(() => admitted.length === 1);
    },
    60_000,
  );

  test('a connection is closed with its refusal, although its client would keep it open', async () => {
    const head = 'GET /v3/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer';
    const refused = Array.from({ length: 60 }, (_, n) => raw(`${head} guess${n}\r\n\r\n`, { untilClosed: true }));
    const missing = raw('GET /v3/status HTTP/1.1\r\nHost: x\r\n\r\n', { untilClosed: true });
    const statuses = (await Promise.all([...refused, missing])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  }, 30_000);
});

interface Answer {
  /** The number of sent bytes. */
  readonly written: number;
  readonly status: number;
  readonly body: string;
  readonly received: string;
}

interface RawOptions {
  /** The node; that of the test when absent. */
  readonly at?: FakeNode;
  readonly isTls?: boolean;
  /** Waits for the end of the connection, also after an answer. */
  readonly untilClosed?: boolean;
  /** The number of bytes after the text. They are sent as fast as the server takes them, so that none pile up here. */
  readonly more?: number;
  /** A text that is sent again every 100 ms. */
  readonly drip?: string;
  /** Ends the connection at this time, if the server has not ended it. */
  readonly endAfterMs?: number;
}

/** Sends bytes on a new connection, and resolves when the connection is closed, or with its first answer. */
async function raw(
  text: string,
  { at = node, isTls = true, more, drip, endAfterMs, untilClosed = false }: RawOptions = {},
): Promise<Answer> {
  const { host, port } = parseAddress(at.port.address);
  const options = { host, port, rejectUnauthorized: false };
  const closed = Promise.withResolvers<void>();
  let received = '';
  const socket: Socket | TLSSocket = isTls ? connectTls(options) : connectPlain(options);
  const timers: (() => void)[] = [];
  socket.on('error', () => undefined);
  socket.on('close', () => closed.resolve());
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1');
    if (!untilClosed && /^HTTP[^]*?\r\n\r\n/.test(received)) setTimeout(() => closed.resolve(), 20);
  });
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    socket.write(text);
    if (more !== undefined) sendBytes(socket, more);
    if (drip !== undefined) {
      const timer = setInterval(() => socket.write(drip), 100);
      timers.push(() => clearInterval(timer));
    }
  });
  if (endAfterMs !== undefined) {
    const timer = setTimeout(() => closed.resolve(), endAfterMs);
    timers.push(() => clearTimeout(timer));
  }
  await closed.promise;
  for (const end of timers) end();
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0);
  return { status, written: socket.bytesWritten, body: received.split('\r\n\r\n').slice(1).join('\r\n\r\n'), received };
}

/** Sends bytes at the speed of the server. */
function sendBytes(socket: Socket | TLSSocket, count: number): void {
  const piece = Buffer.alloc(Math.min(count, 1_000_000), 'x');
  if (socket.destroyed || count === 0) return;
  const left = count - piece.length;
  if (socket.write(piece)) setImmediate(sendBytes, socket, left);
  else socket.once('drain', () => sendBytes(socket, left));
}
