// Tests supervision without processes: the test acts as the connectors, and time moves only when the test advances it.
import { describe, expect, test } from 'bun:test';
import { fileReferenceOf, GoondanError } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { ConnectorAsker } from '../../ipc/connector-asks.ts';
import { FileUploads } from '../../ipc/connector-files.ts';
import { sha256 } from '../../json/sha256.ts';
import { connectorEmitter } from '../../ipc/connector-events.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { fakeConnection, fakeIngress } from '../../testing/fake-connection.ts';
import { type FakeSpawnOptions, fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';
import type { Ingress } from './accept-heard.ts';
import { Connections } from './connections.ts';
import { noQuestions } from '../../testing/no-questions.ts';

const policy = {
  ...defaultSupervisionPolicy,
  restart: { quickCrashes: 2, baseMs: 100, maxMs: 1_000, healthyMs: 10_000 },
  heartbeat: { everyMs: 1_000, missedPings: 3 },
  startTimeoutMs: 2_000,
};

const planOf = (connection: string, over: Partial<ConnectionPlan> = {}) =>
  fakeConnection(connection, { config: { port: 1 }, secrets: { token: 'sk-live-12345' }, ...over });

const event = { name: 'message', input: 'hi', createdAt: new Date(0) };

interface Options extends FakeSpawnOptions {
  readonly plans?: readonly ConnectionPlan[];
  readonly accept?: Ingress['accept'];
  /** Returns the policy. It is called whenever the connections need the policy. */
  readonly policyNow?: () => typeof policy;
}

function open(given: Options = {}) {
  const { plans = [planOf('one')], accept, policyNow, ...options } = given;
  const clock = manualClock();
  const { spawn, children } = fakeSpawn<ToConnector, FromConnector>({ clock, ...options });
  const lines: LogLine[] = [];
  const output: [string, ChildOutput][] = [];
  const connections = new Connections(plans, {
    spawn,
    clock,
    runner: '/runner.js',
    frameFolderFor: (connection) => `/frames/${connection}`,
    makeWorkFolder: (connection) => `/scratch/${connection}`,
    ingress: fakeIngress(accept && { accept }),
    questions: () => noQuestions,
    report: (line) => lines.push(line),
    onOutput: (...each) => output.push(each),
    policy: () => policyNow?.() ?? policy,
  });
  /** Returns the newest child of the connection. */
  const child = (connection = 'one') => {
    const found = children.findLast(({ request }) => request.name === `connection ${connection}`);
    if (found === undefined) throw new Error(`${connection} has no child`);
    return found;
  };
  const say = async (message: FromConnector, connection?: string) => {
    await child(connection).channel.send(message);
    await clock.advance(0);
  };
  return { connections, clock, children, child, say, lines, output, events: () => lines.map((line) => line.event) };
}

function started(given: Options = {}) {
  const opened = open(given);
  opened.connections.start();
  return opened;
}

/** Opens the connection `one`, whose process listens. */
async function listening(given: Options = {}) {
  const opened = started(given);
  await opened.say({ type: 'ready' });
  return opened;
}

describe('the connections of a swarm', () => {
  test('each get a process that learns its settings, but not the rules', async () => {
    const { connections, child, clock } = open({
      plans: [planOf('one', { environment: { TZ: 'UTC' }, events: ['message'] }), planOf('two')],
    });
    const told: ToConnector[] = [];
    connections.start();
    expect(child('one').request).toMatchObject({
      runner: '/runner.js',
      frameFolder: '/frames/one',
      args: ['/scratch/one'],
      environment: { TZ: 'UTC' },
    });
    expect(child('two').request.args).toEqual(['/scratch/two']);
    child('one').channel.onMessage((message) => told.push(message));
    await clock.advance(0);
    expect(told).toEqual([
      {
        type: 'start',
        plan: {
          connection: 'one',
          connector: 'chat',
          root: '/bundle',
          entry: 'chat.ts',
          events: ['message'],
          config: { port: 1 },
          secrets: { token: 'sk-live-12345' },
          agents: ['coder'],
        },
      },
    ]);
  });

  test('R-03 crash independently', async () => {
    const { connections, child, children, clock, say } = started({ plans: [planOf('one'), planOf('two')] });
    await say({ type: 'ready' }, 'one');
    await say({ type: 'ready' }, 'two');
    const { pid } = child('two');
    child('one').exit({ code: 1 });
    await clock.advance(0);
    child('one').exit({ code: 1 });
    await clock.advance(0);
    expect(connections.status()).toEqual([
      {
        connection: 'one',
        status: 'waiting',
        crashes: 2,
        problem: 'E_CONNECTOR_START: The connector did not start: its process ended with code 1.',
      },
      { connection: 'two', status: 'listening', crashes: 0, pid },
    ]);
    expect(children).toHaveLength(3);
    await clock.advance(99);
    expect(children).toHaveLength(3);
    await clock.advance(1);
    expect(children).toHaveLength(4);
  });

  test('are pinged with the heartbeat of the last reload', async () => {
    let current = policy;
    const { connections, child, clock } = await listening({ policyNow: () => current });
    let pings = 0;
    child().channel.onMessage(({ type }) => void (pings += type === 'ping' ? 1 : 0));
    current = { ...policy, heartbeat: { everyMs: 100_000, missedPings: 3 } };
    await clock.advance(10_000);
    expect({ pings, ...connections.status()[0] }).toMatchObject({ pings: 1, status: 'listening', crashes: 0 });
    await clock.advance(91_000);
    expect(pings).toBe(2);
  });

  test.each<[ToConnector['type'], number]>([
    ['ping', 0],
    ['start', 1],
  ])('react to an unsent "%s" during their start with %p kills', async (type, kills) => {
    const { connections, children, clock } = open({
      beforeSend(message) {
        if (isPlainObject(message) && message['type'] === type)
          throw new GoondanError('E_IPC_FULL', 'It reads nothing.');
      },
    });
    connections.start();
    // One ping is due. The process still has another second to start.
    await clock.advance(type === 'ping' ? 1_000 : 0);
    expect(children[0]?.kills).toHaveLength(kills);
  });

  test('R-03 wait for their backoff even when no process can be started', async () => {
    let tries = 0;
    const { connections, clock } = started({
      beforeSpawn: () => {
        tries += 1;
        throw new GoondanError('E_PROCESS_START', 'out of processes');
      },
    });
    // The processes never started, so only the backoff timer is left.
    expect([tries, clock.pending]).toEqual([2, 1]);
    expect(connections.status()).toEqual([
      { connection: 'one', status: 'waiting', crashes: 2, problem: 'E_PROCESS_START: out of processes' },
    ]);
    await clock.advance(100);
    expect(tries).toBe(3);
    await clock.advance(199);
    expect(tries).toBe(3);
    await connections.drain(1_000);
    await clock.advance(100_000);
    expect([tries, clock.pending]).toEqual([3, 0]);
  });

  test('are not reported as failed a second time when they log their own failure', async () => {
    const { say, lines } = started();
    const error = { code: 'E_CONNECTOR_ENDED', message: 'no' } as const;
    const line = {
      time: '2026-01-02T03:04:05.678Z',
      level: 'error',
      message: 'no',
      event: 'connector.failed',
    } as const;
    await say({ type: 'log', line });
    await say({ type: 'failed', error });
    const failures = () => lines.filter(({ level }) => level === 'error').map((each) => each.event);
    expect(failures()).toEqual(['connector.failed']);
    // The next process does not log its failure itself, so the failure of the connection is reported.
    await say({ type: 'failed', error });
    expect(failures()).toEqual(['connector.failed', 'connection.failed']);
  });

  test('give the reason when they fail, and are killed and replaced', async () => {
    const { connections, child, children, clock, say } = started();
    const first = child();
    await say({ type: 'failed', error: { code: 'E_CONNECTOR_LOAD', message: 'no such file' } });
    expect(first.kills).toEqual([0]);
    expect(children).toHaveLength(2);
    expect(connections.status()[0]?.problem).toBe('E_CONNECTOR_LOAD: no such file');
    await clock.advance(0);
    // A late message of the first process does not affect the second process.
    await first.channel.send({ type: 'ready' }).catch(() => undefined);
    await clock.advance(0);
    expect(connections.status()[0]?.status).toBe('starting');
  });

  test('are killed when they miss pings, and not when they answer', async () => {
    const { child, clock, say } = started({ plans: [planOf('deaf'), planOf('alive')] });
    for (const connection of ['deaf', 'alive']) await say({ type: 'ready' }, connection);
    const alive = child('alive');
    alive.channel.onMessage((message) => {
      if (message.type === 'ping') void alive.channel.send({ type: 'pong', n: message.n });
    });
    const deaf = child('deaf');
    await clock.advance(3_999);
    expect(deaf.kills).toEqual([]);
    await clock.advance(1);
    expect(deaf.kills).toEqual([0]);
    await clock.advance(30_000);
    expect(alive.kills).toEqual([]);
  });

  test('may log lines, under their own name only', async () => {
    const { say, lines } = started();
    const line = { time: 't', level: 'info', message: 'hello', agent: 'coder', instance: 'kim', connection: 'two' };
    await say({ type: 'log', line: { ...line, level: 'info' } });
    await say({ type: 'dropped', counts: { delta: 0, log: 7, 'runtime.event': 0 } });
    expect(lines).toEqual([
      { time: 't', level: 'info', message: 'hello', connection: 'one' },
      expect.objectContaining({ event: 'log.dropped', message: expect.stringContaining('7 lines') }),
    ]);
  });

  test('may print their secrets, and readers see them masked', () => {
    const { child, output } = started();
    const print = child().request.onOutput;
    print?.({ kind: 'line', stream: 'stdout', text: 'token: sk-live-12345' });
    print?.({ kind: 'line', stream: 'stdout', text: 'token: sk-live-1234', cutOff: 1 });
    print?.({ kind: 'dropped', stream: 'stderr', lines: 3 });
    expect(output).toEqual([
      ['one', { kind: 'line', stream: 'stdout', text: 'token: ***' }],
      ['one', { kind: 'line', stream: 'stdout', text: 'token: … (1 more characters)' }],
      ['one', { kind: 'dropped', stream: 'stderr', lines: 3 }],
    ]);
  });
});

describe('an event that a connection receives', () => {
  test('is rejected with its code, and logged at most once a second', async () => {
    const { child, clock, lines } = started({ plans: [planOf('one', { rules: [] })] });
    const emit = connectorEmitter(child().channel);
    const codes = async (count: number) => {
      const emitting = Array.from({ length: count }, (_, n) => emit(`${n}`, event).catch((error: unknown) => error));
      const errors = await Promise.all(emitting);
      return new Set(errors.map((error) => (error instanceof GoondanError ? error.code : error)));
    };
    expect(await codes(50)).toEqual(new Set(['E_INGRESS_RULE']));
    await clock.advance(1_000);
    expect(await codes(50)).toEqual(new Set(['E_INGRESS_RULE']));
    expect(lines.map(({ event: what, message }) => [what, message])).toEqual([
      [
        'event.refused',
        'The event "message" was not accepted: E_INGRESS_RULE: No ingress rule matches the event "message".',
      ],
      ['event.refused', expect.stringMatching(/matches the event "message"\. \(and 49 events before it\)$/)],
    ]);
  });

  test('stays accepted when the process dies before the acknowledgement, and affects nothing else', async () => {
    const written = Promise.withResolvers<void>();
    let accepted = 0;
    const { child, clock, children } = started({
      accept: async () => {
        accepted += 1;
        await written.promise;
      },
    });
    const emitted = connectorEmitter(child().channel)('delivery-1', event).catch((error: unknown) => error);
    await clock.advance(0);
    child().exit({ signal: 'SIGKILL' });
    expect(await emitted).toMatchObject({ code: 'E_IPC_CLOSED' });
    await clock.advance(0);
    written.resolve();
    // The sender tries again, and the next process delivers the event.
    await connectorEmitter(child().channel)('delivery-1', event);
    expect([accepted, children.length]).toEqual([2, 2]);
  });

  test('Y-02 names only files that its connector has uploaded', async () => {
    const heard: string[] = [];
    const { child } = started({ accept: async (_, { id }) => void heard.push(id) });
    const { channel } = child();
    const emit = connectorEmitter(channel);
    const data = Buffer.from('the bytes of a cat');
    const naming = (bytes: Buffer) => ({
      ...event,
      content: [{ type: 'file' as const, data: fileReferenceOf(sha256(bytes)), mediaType: 'text/plain' }],
    });
    const codeOf = (work: Promise<unknown>) => work.catch((error: unknown) => GoondanError.is(error) && error.code);
    const ask = (named: Buffer) =>
      new ConnectorAsker(channel).ask('asked', naming(named), { onAccepted: () => undefined }).answer;
    expect(await codeOf(emit('forged', naming(data)))).toBe('E_FILE_UNKNOWN');
    expect(await codeOf(ask(data))).toBe('E_FILE_UNKNOWN');
    const part = { type: 'file' as const, data: data.toString('base64'), mediaType: 'text/plain' };
    const uploaded = await new FileUploads(channel).upload([part]);
    await emit('own', { ...event, content: uploaded.content });
    uploaded.release();
    expect(await codeOf(emit('late', naming(data)))).toBe('E_FILE_UNKNOWN');
    expect(heard).toHaveLength(1);
  });

  test('is accepted also while the connection drains', async () => {
    const { connections, child, clock } = await listening();
    const drained = connections.drain(5_000);
    await connectorEmitter(child().channel)('delivery-1', event);
    child().exit({ code: 0 });
    await clock.advance(0);
    await drained;
  });
});

describe('draining', () => {
  test('R-07 asks all processes to end and resolves when all are gone', async () => {
    const { connections, child, clock, say, events } = started({ plans: [planOf('one'), planOf('two')] });
    await say({ type: 'ready' }, 'one');
    const told: ToConnector[] = [];
    child('one').channel.onMessage((message) => told.push(message));
    let isDrained = false;
    const drained = connections.drain(5_000).then(() => (isDrained = true));
    await clock.advance(0);
    expect(told).toContainEqual({ type: 'drain', graceMs: 5_000 });
    await say({ type: 'drained' }, 'one');
    child('one').exit({ code: 0 });
    await clock.advance(4_999);
    expect([isDrained, child('two').kills]).toEqual([false, []]);
    await clock.advance(1);
    expect(child('two').kills).toEqual([0]);
    await drained;
    expect(connections.status()).toMatchObject([{ status: 'stopped' }, { status: 'stopped' }]);
    expect(connections.status()[0]).not.toHaveProperty('pid');
    expect(events()).not.toContain('connection.exited');
    expect(clock.pending).toBe(0);
  });

  test('R-07 shortens the grace when called again, and both calls resolve', async () => {
    const { connections, child, clock } = started();
    const patient = connections.drain(60_000);
    await clock.advance(1_000);
    const hurried = connections.drain(0);
    expect(child().kills).toEqual([0]);
    await clock.advance(0);
    await Promise.all([patient, hurried]);
  });

  test('before the start resolves, and nothing starts after it', async () => {
    const { connections, children } = open();
    await connections.drain(1_000);
    connections.start();
    expect(children).toEqual([]);
  });

  test('resolves for a swarm without connections', async () => {
    const { connections } = started({ plans: [] });
    await connections.drain(1_000);
    expect(connections.status()).toEqual([]);
  });
});

describe('a changed list of connections for a running swarm', () => {
  const graceMs = 1_000;

  test('L-01 unchanged connections keep their process', async () => {
    const { connections, child, children, clock, say } = started({ plans: [planOf('one'), planOf('two')] });
    await say({ type: 'ready' }, 'one');
    await say({ type: 'ready' }, 'two');
    const { pid } = child('one');
    connections.replace([planOf('two'), planOf('one')], new Set(), graceMs);
    // A process that was asked to end is killed after the grace.
    await clock.advance(2 * graceMs);
    expect(children).toHaveLength(2);
    expect(connections.status().map(({ connection }) => connection)).toEqual(['two', 'one']);
    expect(child('one').pid).toBe(pid);
  });

  test('the replacement of a changed connection starts when the old process is gone', async () => {
    const { connections, child, children, clock } = await listening();
    const old = child();
    connections.replace([planOf('one', { config: { port: 2 } })], new Set(['one']), graceMs);
    await clock.advance(10);
    expect(children).toHaveLength(1);
    old.exit({ code: 0 });
    await clock.advance(0);
    expect(children).toHaveLength(2);
    const told: ToConnector[] = [];
    child().channel.onMessage((message) => told.push(message));
    await clock.advance(0);
    expect(told).toMatchObject([{ type: 'start', plan: { config: { port: 2 } } }]);
  });

  test('a process that does not end is killed after the grace, and then replaced', async () => {
    const { connections, child, children, clock } = await listening();
    const old = child();
    connections.replace([planOf('one', { config: { port: 2 } })], new Set(['one']), graceMs);
    await clock.advance(graceMs - 1);
    expect([old.kills, children.length]).toEqual([[], 1]);
    await clock.advance(1);
    expect([old.kills, children.length]).toEqual([[0], 2]);
  });

  test('removed connections end, and added ones start', async () => {
    const { connections, child, children, clock } = await listening();
    connections.replace([planOf('two')], new Set(), graceMs);
    await clock.advance(0);
    expect(children).toHaveLength(2);
    expect(connections.status()).toMatchObject([{ connection: 'two', status: 'starting' }]);
    child('one').exit({ code: 0 });
    await clock.advance(60_000);
    expect(children.filter(({ request }) => request.name === 'connection one')).toHaveLength(1);
  });

  test('connections are ended with everything else, also leaving ones, and none starts any more', async () => {
    const { connections, child, children, clock } = await listening();
    connections.replace([planOf('one', { config: { port: 2 } })], new Set(['one']), graceMs);
    const drained = connections.drain(graceMs);
    child().exit({ code: 0 });
    await clock.advance(0);
    await drained;
    connections.replace([planOf('three')], new Set(), graceMs);
    await clock.advance(60_000);
    expect(children).toHaveLength(1);
  });
});
