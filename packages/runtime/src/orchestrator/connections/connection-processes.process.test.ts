// Tests connections with real processes, real HTTP and a real inbox.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RestartPolicy } from '../../config/swarm-policy.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { samples, sampleStep } from '../../../../../test/samples.ts';
import { seed } from '../../../../../test/seed.ts';
import { systemClock } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { Spawn } from '../../ipc/spawn.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { killTagged } from '../guardian/kill-tagged.ts';
import { newTag } from '../guardian/process-tag.ts';
import { childSpawner } from '../child/spawn-child.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';
import type { Ingress } from './accept-heard.ts';
import { backoffMs } from '../supervision/backoff.ts';
import { Connections } from './connections.ts';
import { fakeConnection, fakeIngress } from '../../testing/fake-connection.ts';
import { noQuestions } from '../../testing/no-questions.ts';
import { seededRandom } from '../../workspace/simulation/seeded-random.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(60_000);
const runTag = newTag('GOONDAN_RUN');
const kim = { agentName: 'coder', instanceKey: 'kim' };
let bundle: string;
let scratch: string;

/**
 * A connector that responds with 202 when an event is accepted, 503 when the sender may retry, and 422 otherwise. It
 * logs its port.
 */
const http = `
  import { type Connector, GoondanError } from '@goondan/types';
  const connector: Connector = async ({ emit, logger, signal }) => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname } = new URL(request.url);
        const id = request.headers.get('x-delivery-id');
        try {
          const chat = request.headers.get('x-chat');
          const input = await request.text();
          await emit({ name: pathname.slice(1), input, ...(id && { id }), ...(chat && { properties: { chat } }) });
          return new Response('accepted', { status: 202 });
        } catch (error) {
          if (!(error instanceof GoondanError)) throw error;
          return new Response(error.code, { status: error.retryable ? 503 : 422 });
        }
      },
    });
    signal.addEventListener('abort', () => void server.stop());
    logger.info('port %d', server.port);
  };
  export default connector;`;

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'connection-processes-'));
  bundle = join(folder, 'bundle');
  scratch = join(folder, 'scratch');
  mkdirSync(bundle);
  const files = {
    http,
    throws: `throw new Error('at once, with sk-live-12345');`,
    exits: `export default async () => { process.exit(0); };`,
    // The connector writes only as fast as its output is read, because queued output would fill the machine's memory.
    // In `npm test` it rests between its writes after the first 10 MB, because a flood takes a whole core from other
    // tests.
    floods: `export default async () => {
      const lines = ('y'.repeat(100) + '\\n').repeat(1_000);
      for (let n = 0; ; n++) {
        await new Promise((resolve) => process.stdout.write(lines, resolve));
        if (n > ${sampleStep === 1 ? Infinity : 100}) await Bun.sleep(100);
      }
    };`,
    // Blocks its thread without taking processor time.
    blocks: `export default async () => {
      setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 1);
    };`,
    leaks: `export default async ({ logger, secrets }) => {
      console.log('printed', secrets);
      console.error(JSON.stringify(secrets));
      logger.info('logged', secrets);
      await Bun.sleep(50);
      throw new Error('failed with ' + secrets.token);
    };`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(bundle, `${name}.ts`), text);
});
afterAll(async () => {
  expect((await killTagged(runTag)).ended).toEqual([]);
  rmSync(join(bundle, '..'), { recursive: true });
});

function planOf(connector: string, over: Partial<ConnectionPlan> = {}): ConnectionPlan {
  return fakeConnection(connector, {
    ...{ connector, root: bundle, entry: `${connector}.ts`, events: ['message', 'joined'] },
    rules: [{ match: { event: 'message' }, route: { instanceKeyProperty: 'chat' } }],
    ...over,
  });
}

const policy = {
  ...defaultSupervisionPolicy,
  restart: { quickCrashes: 2, baseMs: 200, maxMs: 400, healthyMs: 600_000 },
  heartbeat: { everyMs: 1_000, missedPings: 4 },
  startTimeoutMs: 30_000,
};

const openStore = (inboxEvents = 1_000) =>
  durableStore({
    stateRoot: join(scratch, crypto.randomUUID()),
    workspaceId: 'test',
    limits: { inboxEvents },
    warn: () => undefined,
  });

function open(
  plans: readonly ConnectionPlan[],
  accept: Ingress['accept'] = async () => undefined,
  restart: RestartPolicy = policy.restart,
) {
  const lines: LogLine[] = [];
  const printed: string[] = [];
  /** The start and end of each process of a connection. */
  const lives: { readonly name: string; readonly beganAt: number; endedAt?: number }[] = [];
  const spawnChild = childSpawner({ runTag });
  const spawn: Spawn = (language, request) => {
    const life: (typeof lives)[number] = { name: request.name, beganAt: systemClock.elapsed() };
    lives.push(life);
    const child = spawnChild(language, request);
    void child.exited.then(() => (life.endedAt = systemClock.elapsed()));
    return child;
  };
  const connections = new Connections(plans, {
    spawn,
    clock: systemClock,
    runner: join(import.meta.dir, '../../connector/main.ts'),
    frameFolderFor: (connection) => join(scratch, 'frames', connection),
    makeWorkFolder: (connection) => {
      const made = join(scratch, 'work', connection);
      mkdirSync(made, { recursive: true });
      return made;
    },
    // These tests need no asks; see connector-asks.process.test.ts.
    ingress: fakeIngress({ accept }),
    questions: () => noQuestions,
    report: (line) => lines.push(line),
    onOutput: (_, output) => printed.push(output.kind === 'line' ? output.text : `${output.lines} dropped`),
    policy: () => ({ ...policy, restart }),
  });
  connections.start();
  const statusOf = (connection: string) => connections.status().find((each) => each.connection === connection);
  const ports = () =>
    lines.flatMap(({ connection, message }) =>
      connection === 'http' && message.startsWith('port ') ? [Number(message.slice(5))] : [],
    );
  return {
    connections,
    lines,
    printed,
    statusOf,
    pidOf: (connection: string): number => {
      const pid = statusOf(connection)?.pid;
      if (pid === undefined) throw new Error(`${connection} has no process`);
      return pid;
    },
    livesOf: (connection: string) => lives.filter(({ name }) => name === `connection ${connection}`),
    ports,
    /** Posts to the server that was started last. */
    post: (path: string, headers: Record<string, string> = { 'x-chat': 'kim' }, body = 'hello') =>
      fetch(`http://127.0.0.1:${ports().at(-1)}/${path}`, { method: 'POST', body, headers, keepalive: false }),
    /** Waits until this many processes of the connection have begun to listen. */
    listening: (count = 1) => until(() => ports().length >= count && statusOf('http')?.status === 'listening'),
  };
}

describe('an event from outside', () => {
  test('is acknowledged to its sender after it is on disk, not before', async () => {
    const store = await openStore();
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const { connections, listening, post } = open([planOf('http')], async (to, event) => {
      asked += 1;
      await gate.promise;
      await store.accept(to, event);
    });
    await listening();
    let answered = false;
    const posted = post('message').finally(() => (answered = true));
    await until(() => asked === 1);
    await Bun.sleep(50);
    expect([answered, await store.pending(kim)]).toEqual([false, []]);
    gate.resolve();
    const response = await posted;
    expect([response.status, await response.text()]).toEqual([202, 'accepted']);
    expect(await store.pending(kim)).toMatchObject([
      { type: 'message', input: 'hello', source: { kind: 'connector', name: 'http' } },
    ]);
    await connections.drain(10_000);
    await store.close();
  });

  test('is an error with the reason for its sender when it is rejected', async () => {
    const store = await openStore(1);
    const { connections, listening, post, lines } = open([planOf('http')], async (to, event) => {
      await store.accept(to, event);
    });
    await listening();
    const answerTo = async (path: string, headers?: Record<string, string>) => {
      const response = await post(path, headers);
      return `${response.status} ${await response.text()}`;
    };
    expect(await answerTo('left')).toBe('422 E_CONNECTOR_EVENT');
    expect(await answerTo('joined')).toBe('422 E_INGRESS_RULE');
    expect(await answerTo('message', {})).toBe('422 E_INGRESS_KEY');
    expect(await answerTo('message')).toBe('202 accepted');
    expect(await answerTo('message')).toBe('503 E_INBOX_FULL');
    // Another instance still has room for input.
    expect(await answerTo('message', { 'x-chat': 'lee' })).toBe('202 accepted');
    expect(lines.map(({ event }) => event)).toContain('event.refused');
    await connections.drain(10_000);
    await store.close();
  });

  test('delivered again with the same id is one event, also after a kill -9 in between', async () => {
    const store = await openStore();
    const { connections, listening, post, statusOf, pidOf, ports } = open([planOf('http')], async (to, event) => {
      await store.accept(to, event);
    });
    await listening();
    const again = { 'x-chat': 'kim', 'x-delivery-id': 'delivery-1' };
    expect((await post('message', again)).status).toBe(202);
    expect((await post('message', again)).status).toBe(202);
    const pid = pidOf('http');
    process.kill(pid, 'SIGKILL');
    await listening(2);
    expect(statusOf('http')).toMatchObject({ status: 'listening', crashes: 1 });
    expect(statusOf('http')?.pid).not.toBe(pid);
    expect(ports()).toHaveLength(2);
    expect((await post('message', again)).status).toBe(202);
    expect(await store.pending(kim)).toHaveLength(1);
    expect((await post('message', { ...again, 'x-delivery-id': 'delivery-2' })).status).toBe(202);
    expect(await store.pending(kim)).toHaveLength(2);
    await connections.drain(10_000);
    await store.close();
  });
});

test('R-03 kill -9 at any moment, again and again: every acknowledged event is there once', async () => {
  const store = await openStore(100_000);
  const atOnce = { ...policy.restart, quickCrashes: 1_000 };
  const { connections, listening, post, statusOf, pidOf } = open(
    [planOf('http')],
    async (to, event) => void (await store.accept(to, event)),
    atOnce,
  );
  await listening();
  const acknowledged: string[] = [];
  const over = new AbortController();
  let unanswered = 0;
  /** Repeats the same delivery until it is acknowledged, as a real sender does. */
  const deliver = async (id: string) => {
    const headers = { 'x-chat': 'kim', 'x-delivery-id': id };
    const isAcknowledged = async () => {
      const status = await post('message', headers, id).then(
        (response) => response.status,
        () => 0,
      );
      unanswered += status === 202 ? 0 : 1;
      return status === 202;
    };
    await until(isAcknowledged, { about: `delivery ${id} is acknowledged` });
    acknowledged.push(id);
  };
  const send = async (sender: number) => {
    for (let n = 0; !over.signal.aborted; n++) {
      await deliver(`${sender}-${n}`);
      // Without a rest, most of the processor time of this test goes into deliveries between two kills.
      if (sampleStep !== 1) await Bun.sleep(2);
    }
  };
  const senders = Array.from({ length: 4 }, (_, sender) => send(sender));
  const random = seededRandom(seed);
  for (let kills = 1; kills <= samples(40, 10); kills++) {
    await Bun.sleep(random.below(120));
    await until(() => statusOf('http')?.pid !== undefined);
    process.kill(pidOf('http'), 'SIGKILL');
    await until(() => statusOf('http')?.crashes === kills);
  }
  // On a busy machine a process may be killed before any event arrives. So the test waits until some events are
  // acknowledged.
  await until(() => acknowledged.length > 20);
  over.abort();
  await Promise.all(senders);
  expect(unanswered).toBeGreaterThan(0);
  const inputs = (await store.pending(kim)).map(({ input }) => input ?? '');
  expect(inputs.toSorted()).toEqual(acknowledged.toSorted());
  await connections.drain(10_000);
  await store.close();
});

test('draining answers the received events and accepts no new ones', async () => {
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const { connections, listening, post, statusOf, lines } = open([planOf('http')], async () => {
    asked += 1;
    if (asked === 1) await gate.promise;
  });
  await listening();
  const posted = post('message');
  await until(() => asked === 1);
  const drained = connections.drain(30_000);
  await until(() =>
    post('message').then(
      () => false,
      () => true,
    ),
  );
  gate.resolve();
  expect((await posted).status).toBe(202);
  await drained;
  expect(statusOf('http')).toEqual({ connection: 'http', status: 'stopped', crashes: 0 });
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
});

test('R-03 connectors that cannot start, exit, flood or block are restarted with their backoff, and affect no other', async () => {
  const bad = ['throws', 'exits', 'floods', 'blocks'];
  const { connections, listening, livesOf, statusOf, post, printed } = open(
    ['http', ...bad].map((each) => planOf(each)),
  );
  await listening();
  const pid = statusOf('http')?.pid;
  const crashesOf = (connection: string) => statusOf(connection)?.crashes ?? 0;
  let answers = 0;
  const most = sampleStep === 1 ? 5 : 3;
  const isDone = () => crashesOf('throws') >= most && crashesOf('exits') >= most && crashesOf('blocks') >= 1;
  // The flooding connector has no failure to wait for: it only prints.
  while (!isDone() || !printed.some((text) => text.endsWith(' dropped'))) {
    expect((await post('message')).status).toBe(202);
    answers += 1;
    await Bun.sleep(sampleStep === 1 ? 10 : 50);
  }
  expect(answers).toBeGreaterThan(2 * most);
  expect(statusOf('http')).toEqual({ connection: 'http', status: 'listening', crashes: 0, ...(pid && { pid }) });
  expect(statusOf('floods')).toMatchObject({ crashes: 0 });
  expect(statusOf('throws')?.problem).toStartWith('E_CONNECTOR_LOAD: Connector/throws: "throws.ts" cannot be loaded: ');
  expect(statusOf('exits')?.problem).toContain('its process ended with code 0');
  expect(statusOf('blocks')?.problem).toContain('it does not answer');
  for (const connection of bad) {
    const lives = livesOf(connection);
    for (const [index, { beganAt }] of lives.entries()) {
      if (index === 0) continue;
      const { endedAt = Infinity } = lives[index - 1] ?? {};
      // A difference of 2 ms is allowed, because timers count whole milliseconds.
      expect(beganAt - endedAt).toBeGreaterThan(backoffMs(index, policy.restart) - 2);
    }
  }
  // Two of the connectors ignore the drain.
  await connections.drain(1_000);
  expect(connections.status().map(({ status }) => status)).toEqual(Array(5).fill('stopped'));
});

test('the secrets of a connection appear in nothing it logs, prints or fails with', async () => {
  const secrets = { token: 'sk-live-12345', phrase: 'p&ss "word"\\ + é' };
  const { connections, lines, printed, statusOf } = open([planOf('leaks', { secrets })]);
  await until(() => (statusOf('leaks')?.crashes ?? 0) >= 1 && printed.length >= 2);
  const written = JSON.stringify([lines, printed, connections.status()]);
  expect(written).toContain('printed');
  expect(written).toContain('logged');
  expect(written).toContain('failed with ***');
  expect(written).not.toContain('sk-live');
  expect(written).not.toContain('word');
  await connections.drain(10_000);
});
