// Tests the runner without a process: with a real channel in memory, a real module on disk and a manual clock.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Connector, type ConnectorContext, GoondanError, type JsonObject, type JsonSchema } from '@goondan/types';
import type { ConnectorStart } from '../config/connector-start.ts';
import { connectorLanguage } from '../ipc/codec.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { acceptConnectorEvents, type EmitConnectorEvent } from '../ipc/connector-events.ts';
import type { FromConnector } from '../ipc/from-connector.ts';
import { countedIds } from '../testing/counted-ids.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { ConnectorRun } from './connector-run.ts';
import { until } from '../../../../test/until.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

/** The connector of a test. The module on disk only calls this function. */
type Listen = Connector;
const listeners: Record<string, Listen> = {};
const never = new Promise<never>(() => undefined);

const root = temporaryFolder();

beforeAll(() => void Object.assign(globalThis, { listenersOfRunConnectorTest: listeners }));
afterAll(() => void Reflect.deleteProperty(globalThis, 'listenersOfRunConnectorTest'));

interface Options {
  readonly accept?: EmitConnectorEvent;
  readonly secrets?: ConnectorStart['secrets'];
  readonly masked?: readonly string[];
  readonly config?: JsonObject;
  readonly configSchema?: JsonSchema;
  readonly entry?: string;
  readonly isTrial?: boolean;
}

function open(
  listen: Listen,
  {
    accept = async () => undefined,
    secrets = {},
    masked = [],
    config = {},
    configSchema,
    entry,
    isTrial,
  }: Options = {},
) {
  const name = `connector-${crypto.randomUUID()}`;
  listeners[name] = listen;
  writeFileSync(join(root, `${name}.ts`), `export default globalThis.listenersOfRunConnectorTest['${name}'];`);
  const clock = manualClock();
  const [parent, child] = connectInMemory(connectorLanguage);
  const exits: number[] = [];
  const run = new ConnectorRun({
    channel: child,
    clock,
    ids: countedIds(),
    folder: root,
    exit: (code) => exits.push(code),
  });
  const heard: FromConnector[] = [];
  parent.onMessage((message) => heard.push(message));
  acceptConnectorEvents(parent, accept);
  run.begin();
  const plan: ConnectorStart = {
    connection: 'inbound',
    connector: 'chat',
    root,
    entry: entry ?? `${name}.ts`,
    config,
    ...(configSchema === undefined ? {} : { configSchema }),
    secrets,
    masked,
    agents: ['clerk'],
    ...(isTrial === undefined ? {} : { isTrial }),
  };
  const start = () => parent.send({ type: 'start', plan: plan as unknown as JsonObject });
  const types = () => heard.filter(({ type }) => type !== 'log').map(({ type }) => type);
  return {
    run,
    parent,
    clock,
    exits,
    heard,
    types,
    start,
    /** Starts the connector and waits until it has sent this message. */
    startUntil: async (type: FromConnector['type']) => {
      await start();
      await until(() => types().includes(type), { about: `${name} sends ${type}` });
    },
    /** Starts the connector and waits for its end. */
    startToEnd: async () => {
      await start();
      await until(() => exits.length > 0);
    },
    /** Advances the clock and waits for the end of the drain. */
    finishDrain: async (ms: number) => {
      await clock.advance(ms);
      await until(() => types().includes('drained'));
    },
    lines: () => heard.flatMap((message) => (message.type === 'log' ? [message.line] : [])),
    error: () => heard.flatMap((message) => (message.type === 'failed' ? [message.error] : []))[0],
  };
}

describe('a connector', () => {
  test('is called once, with its config, its secrets and a signal', async () => {
    const given: ConnectorContext[] = [];
    const connector = open(async (ctx) => void given.push(ctx), {
      config: { port: 7 },
      secrets: { token: 'abc' },
    });
    await connector.start();
    await connector.start();
    await until(() => connector.types().length > 0);
    expect(given).toMatchObject([{ config: { port: 7 }, secrets: { token: 'abc' }, agents: ['clerk'], folder: root }]);
    expect(given[0]?.signal.aborted).toBe(false);
    expect(connector.types()).toEqual(['ready']);
  });

  test('listens when its promise resolved, and the process lives on', async () => {
    const connector = open(async () => undefined);
    await connector.startUntil('ready');
    await connector.clock.advance(60_000);
    expect(connector.exits).toEqual([]);
  });

  test('on trial is loaded and checked, and not called', async () => {
    let calls = 0;
    const tried = open(async () => void (calls += 1), { isTrial: true });
    await tried.startUntil('ready');
    expect(calls).toBe(0);
    const broken = open(async () => undefined, { isTrial: true, entry: 'nowhere.ts' });
    await broken.startToEnd();
    expect(broken.error()).toMatchObject({ code: 'E_CONNECTOR_LOAD' });
  });

  test('listens after a second when its promise stays pending', async () => {
    let isCalled = false;
    const connector = open(async () => {
      isCalled = true;
      await never;
    });
    await connector.start();
    await until(() => isCalled);
    await connector.clock.advance(999);
    expect(connector.types()).toEqual([]);
    await connector.clock.advance(1);
    await until(() => connector.types().includes('ready'));
  });

  test('emits from its first line on, before it listens', async () => {
    const accepted: string[] = [];
    const connector = open(
      async ({ emit }) => {
        await emit({ name: 'message', id: 'delivery-1' });
        await never;
      },
      { accept: async (id) => void accepted.push(id) },
    );
    await connector.start();
    await until(() => accepted.length > 0);
    expect([accepted, connector.types()]).toEqual([['delivery-1'], ['connector.event']]);
  });

  test('gets the reason of a rejected event, and lives on when it ignores it', async () => {
    const refusals: unknown[] = [];
    const connector = open(
      async ({ emit }) => {
        void emit({ name: 'message' });
        await emit({ name: 'message' }).catch((error: unknown) => refusals.push(error));
      },
      {
        accept: async () => {
          throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
        },
      },
    );
    await connector.startUntil('ready');
    expect(refusals).toMatchObject([{ code: 'E_INBOX_FULL', retryable: true }]);
    expect(connector.exits).toEqual([]);
  });

  test('answers pings, also before its start', async () => {
    const connector = open(async () => undefined);
    await connector.parent.send({ type: 'ping', n: 3 });
    await until(() => connector.heard.length > 0);
    expect(connector.heard).toEqual([{ type: 'pong', n: 3 }]);
  });

  test('ends at once when the orchestrator is gone', async () => {
    const connector = open(async () => undefined);
    connector.parent.close();
    await until(() => connector.exits.length > 0);
    expect(connector.exits).toEqual([0]);
  });
});

describe('a connector that fails', () => {
  test.each<[when: string, listen: Listen]>([
    [
      'at once',
      () => {
        throw new RangeError('port taken');
      },
    ],
    ['before it listens', () => Promise.reject(new RangeError('port taken'))],
  ])('%s reports it and ends', async (_, listen) => {
    const connector = open(listen);
    await connector.startToEnd();
    expect(connector.exits).toEqual([1]);
    expect(connector.types()).toEqual(['failed']);
    expect(connector.error()).toEqual({
      code: 'E_CONNECTOR_START',
      message: 'Connector/chat failed before it listened: port taken',
    });
    expect(connector.lines()).toMatchObject([
      { level: 'error', event: 'connector.failed', message: expect.stringContaining('RangeError: port taken') },
    ]);
  });

  test('X-07 with a suggestion keeps it', async () => {
    const connector = open(() => Promise.reject(Object.assign(new Error('taken'), { suggestion: 'Use port 81.' })));
    await connector.startToEnd();
    expect(connector.error()).toMatchObject({ code: 'E_CONNECTOR_START', suggestion: 'Use port 81.' });
  });

  test('while it listens reports it and ends', async () => {
    const failure = Promise.withResolvers<void>();
    let isCalled = false;
    const connector = open(() => {
      isCalled = true;
      return failure.promise;
    });
    await connector.start();
    await until(() => isCalled);
    await connector.clock.advance(1_000);
    failure.reject(new GoondanError('E_INGRESS_RULE', 'no rule'));
    await until(() => connector.exits.length > 0);
    expect(connector.exits).toEqual([1]);
    expect(connector.types()).toEqual(['ready', 'failed']);
    expect(connector.error()).toEqual({
      code: 'E_CONNECTOR_ENDED',
      message: 'Connector/chat failed: no rule (E_INGRESS_RULE)',
      suggestion: expect.stringContaining('Add a rule'),
    });
  });

  test('with an uncaught error reports it once and ends', async () => {
    const connector = open(async () => undefined);
    await connector.startUntil('ready');
    await Promise.all([connector.run.fail('a text'), connector.run.fail(new Error('another'))]);
    await until(() => connector.types().includes('failed'));
    expect(connector.exits).toEqual([1]);
    expect(connector.error()).toEqual({ code: 'E_CONNECTOR_ENDED', message: 'Connector/chat failed: a text' });
  });

  test('to read a frame of the orchestrator reports it and ends', async () => {
    const connector = open(async () => undefined);
    await connector.startUntil('ready');
    connector.parent['wire'].write(Buffer.from('nonsense\n'));
    await until(() => connector.types().includes('failed'));
    expect(connector.exits).toEqual([1]);
    expect(connector.error()?.message).toBe('Connector/chat failed: A frame is not JSON. (E_IPC_FRAME)');
  });

  test('with a value that cannot be shown reports it and ends', async () => {
    class Hostile extends Error {
      override get message(): string {
        throw new Error('no');
      }
    }
    const connector = open(() => Promise.reject(new Hostile()));
    await connector.startToEnd();
    expect([connector.exits, connector.error()?.code]).toEqual([[1], 'E_CONNECTOR_START']);
  });

  test('by a config that does not match its schema reports the problem, and none of its code runs', async () => {
    let isCalled = false;
    const connector = open(async () => void (isCalled = true), {
      config: { port: 'x' },
      configSchema: { type: 'object', properties: { port: { type: 'string', pattern: '^[0-9]+$' } } },
    });
    await connector.startToEnd();
    expect(isCalled).toBe(false);
    expect(connector.error()).toEqual({
      code: 'E_CONNECTOR_CONFIG',
      message: 'The config of Connection/inbound does not fit Connector/chat: port must match pattern "^[0-9]+$".',
    });
  });

  test('ends also when the orchestrator does not read', async () => {
    const clock = manualClock();
    const exits: number[] = [];
    // This channel has less room than one message needs, and nobody reads at the other end.
    const [, channel] = connectInMemory(connectorLanguage, { room: 10 });
    const run = new ConnectorRun({ channel, clock, ids: countedIds(), folder: root, exit: (code) => exits.push(code) });
    run.begin();
    const failing = run.fail(new Error('no'));
    await clock.advance(1_999);
    expect(exits).toEqual([]);
    await clock.advance(1);
    await failing;
    expect(exits).toEqual([1]);
  });
});

describe('a draining connector', () => {
  test('is told by its signal, may finish, and then ends', async () => {
    const finish = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const connector = open(async (ctx) => {
      signal = ctx.signal;
      await finish.promise;
    });
    await connector.start();
    await until(() => signal !== undefined);
    await connector.parent.send({ type: 'drain', graceMs: 10_000 });
    await until(() => signal?.aborted === true);
    await connector.clock.advance(9_000);
    expect(connector.exits).toEqual([]);
    finish.resolve();
    await connector.finishDrain(50);
    expect(connector.exits).toEqual([0]);
  });

  test('waits for its emitted events, also those of the drain, and for the answers to their senders', async () => {
    const writes: PromiseWithResolvers<void>[] = [];
    let context: ConnectorContext | undefined;
    const connector = open(async (ctx) => void (context = ctx), {
      accept: () => {
        const write = Promise.withResolvers<void>();
        writes.push(write);
        return write.promise;
      },
    });
    await connector.start();
    await until(() => context !== undefined);
    const first = context?.emit({ name: 'first' });
    await until(() => writes.length === 1);
    await connector.parent.send({ type: 'drain', graceMs: 10_000 });
    await until(() => context?.signal.aborted === true);
    const second = context?.emit({ name: 'second' });
    await until(() => writes.length === 2);
    writes[0]?.resolve();
    await first;
    await connector.clock.advance(1_030);
    expect(connector.exits).toEqual([]);
    writes[1]?.resolve();
    await second;
    await connector.clock.advance(49);
    expect(connector.exits).toEqual([]);
    await connector.finishDrain(1);
    expect(connector.exits).toEqual([0]);
  });

  test.each([
    ['waits for', async () => undefined, 0],
    ['survives', () => Promise.reject(new Error('not clean')), 1],
  ])('%s its cleanup', async (_, result, logged) => {
    const called = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const connector = open(async ({ signal }) => async () => {
      expect(signal.aborted).toBe(true);
      called.resolve();
      await gate.promise;
      await result();
    });
    await connector.startUntil('ready');
    await connector.parent.send({ type: 'drain', graceMs: 10_000 });
    await called.promise;
    await connector.clock.advance(5_000);
    expect(connector.exits).toEqual([]);
    const { pending } = connector.clock;
    gate.resolve();
    await until(() => connector.clock.pending > pending);
    await connector.finishDrain(50);
    expect([connector.exits, connector.lines().length]).toEqual([[0], logged]);
  });

  test('ends when its time is over, whatever it does', async () => {
    let isCalled = false;
    const connector = open(async () => {
      isCalled = true;
      await never;
    });
    await connector.start();
    await until(() => isCalled);
    await connector.parent.send({ type: 'drain', graceMs: 500 });
    await until(() => connector.clock.pending > 1);
    await connector.clock.advance(499);
    expect(connector.exits).toEqual([]);
    await connector.finishDrain(1);
    expect(connector.exits).toEqual([0]);
  });

  test('may reject: with the reason of its signal without a log line, with anything else in the log', async () => {
    for (const [reject, logged] of [
      [(signal: AbortSignal) => signal.reason as unknown, 0],
      [() => new Error('late'), 1],
    ] as const) {
      let isCalled = false;
      const connector = open(({ signal }) => {
        isCalled = true;
        return new Promise((_, fail) => {
          signal.addEventListener('abort', () => fail(reject(signal)));
        });
      });
      await connector.start();
      await until(() => isCalled);
      await connector.parent.send({ type: 'drain', graceMs: 10_000 });
      await connector.clock.advance(0);
      await until(() => connector.clock.pending > 0);
      await connector.finishDrain(50);
      expect(connector.exits).toEqual([0]);
      expect(connector.types()).not.toContain('failed');
      expect(connector.lines()).toHaveLength(logged);
    }
  });

  test('before its start has nothing to finish, and is not called any more', async () => {
    let isCalled = false;
    const connector = open(async () => void (isCalled = true));
    await Promise.all([connector.parent.send({ type: 'drain', graceMs: 10_000 }), connector.start()]);
    await until(() => connector.clock.pending > 0);
    await connector.finishDrain(50);
    await Bun.sleep(20);
    expect([connector.exits, isCalled]).toEqual([[0], false]);
  });
});

describe('the secrets of a connection', () => {
  const secrets = { token: 'sk-live-12345', short: 'abc' };

  test('are masked in its log', async () => {
    const connector = open(
      async ({ logger }) => logger.warn('using %s of %o, %s', 'sk-live-12345', { token: 'sk-live-12345' }, 'abc'),
      { secrets },
    );
    await connector.start();
    await until(() => connector.lines().length > 0);
    expect(connector.lines()).toMatchObject([{ level: 'warn', message: "using *** of { token: '***' }, abc" }]);
  });

  test('also include values that its config took from the environment', async () => {
    const masked = ['config-secret-1'];
    const connector = open(async ({ logger }) => logger.warn('with config-secret-1'), { secrets, masked });
    await connector.start();
    await until(() => connector.lines().length > 0);
    expect(connector.lines()).toMatchObject([{ message: 'with ***' }]);
  });

  test('are masked in the reason, the suggestion and the place of its failure', async () => {
    const failure = new GoondanError('E_CONNECTOR_LOAD', '401 for sk-live-12345', { suggestion: 'Not sk-live-12345.' });
    const place = { file: 'sk-live-12345.ts', line: 1, column: 1 };
    const connector = open(() => Promise.reject(Object.assign(failure, { place })), { secrets });
    await connector.startToEnd();
    expect(connector.error()).toMatchObject({ message: '401 for ***', suggestion: 'Not ***.' });
    expect(JSON.stringify(connector.heard)).not.toContain('sk-live');
  });
});
