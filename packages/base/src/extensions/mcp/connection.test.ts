import { describe, expect, test } from 'bun:test';
import { type ExtensionStatus, GoondanError } from '@goondan/types';
import { manualClock } from '@goondan/runtime/testing';
import { Connection } from './connection.ts';
import type { ClientEvents, ListedTool, McpClient } from './mcp-client.ts';
import { McpFailure } from './mcp-failure.ts';
import { MOST_ATTEMPTS } from './retry-delay.ts';
import { ServerHealth } from './server-health.ts';
import type { ServerTarget } from './server-target.ts';

const target: ServerTarget = { type: 'http', url: 'http://a.example/', headers: {}, protocol: 'auto' };
const signal = new AbortController().signal;
const down = () => Promise.reject(new McpFailure('unreached', 'nobody is there.'));

/** Creates a connection to a fake server that the test controls. */
function setUp({ isSupervised = true } = {}) {
  const clock = manualClock();
  const lines: string[] = [];
  const lists: number[] = [];
  const statuses: ExtensionStatus[] = [];
  const server = {
    connects: 0,
    closes: 0,
    tools: 1,
    events: undefined as ClientEvents | undefined,
    lastWords: { exit: '', lines: [] as string[] },
    connect: (): Promise<void> => Promise.resolve(),
    list: (): Promise<void> => Promise.resolve(),
  };
  const nothing = () => Promise.reject(new Error('not asked for'));
  const client: McpClient = {
    async connect() {
      server.connects += 1;
      await server.connect();
      return { tools: true, resources: false, prompts: false };
    },
    async listTools() {
      await server.list();
      return Array.from({ length: server.tools }, (): ListedTool => ({ name: 'a', inputSchema: {} }));
    },
    callTool: nothing,
    listResources: nothing,
    readResource: nothing,
    listPrompts: nothing,
    getPrompt: nothing,
    lastWords: () => server.lastWords,
    async close() {
      server.closes += 1;
    },
  };
  const say = (line: string) => void lines.push(line);
  const mode = isSupervised ? 'stateful' : 'stateless';
  const connection = new Connection(
    'x',
    { timeouts: { connectMs: 1, listMs: 1, callMs: 1 }, mode },
    {
      clock,
      logger: { info: say, warn: say, debug: say },
      health: new ServerHealth((status) => void statuses.push(status)),
      open: async (events) => {
        server.events = events;
        return client;
      },
      onListed: async (tools) => void lists.push(tools.length),
    },
  );
  return { connection, server, clock, lines, lists, statuses };
}

async function connected(options?: { isSupervised?: boolean }) {
  const all = setUp(options);
  await all.connection.aim(target);
  await all.connection.need();
  return all;
}

/** Waits until all work is done that does not depend on the clock. */
const settle = () => Bun.sleep(1);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof GoondanError ? error.code : error),
  );

describe('a connection', () => {
  test('is made once for any number of callers', async () => {
    const { connection, server, lists } = setUp();
    await connection.aim(target);
    await Promise.all([connection.need(), connection.need(), connection.need(signal)]);
    expect({ connects: server.connects, lists }).toEqual({ connects: 1, lists: [1] });
  });

  test('fails when its list cannot be read', async () => {
    const { connection, server } = setUp();
    await connection.aim(target);
    server.list = () => Promise.reject(new McpFailure('timeout', 'no answer.'));
    expect(await codeOf(connection.need())).toBe('E_MCP_TIMEOUT');
    expect({ isConnected: connection.isConnected, closes: server.closes }).toEqual({ isConnected: false, closes: 1 });
  });

  test('is not tried again within a second of a failure, and then when it is needed', async () => {
    const { connection, server, clock } = setUp();
    await connection.aim(target);
    server.connect = down;
    expect(await codeOf(connection.need())).toBe('E_MCP_CONNECT');
    expect(await codeOf(connection.need())).toBe('E_MCP_CONNECT');
    expect(server.connects).toBe(1);
    await clock.advance(1_000);
    server.connect = () => Promise.resolve();
    await connection.need();
    expect(server.connects).toBe(2);
  });

  test('is made again after a break, later each time, and at last only when needed', async () => {
    const { connection, server, clock } = await connected();
    await clock.advance(60_000);
    server.connect = down;
    server.events?.onClosed();
    const waits: number[] = [];
    for (let waited = 0, seen = 1; waited < 300_000; waited += 500) {
      await clock.advance(500);
      if (server.connects === seen) continue;
      seen = server.connects;
      waits.push(waited + 500);
    }
    const between = waits.map((at, index) => at - (waits[index - 1] ?? 0));
    expect(between).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(waits).toHaveLength(MOST_ATTEMPTS);

    server.connect = () => Promise.resolve();
    await connection.need();
    expect(connection.isConnected).toBe(true);
  });

  test('counts as failed when it breaks at once again and again', async () => {
    const { connection, server, clock } = await connected();
    for (let seconds = 0; seconds < 600; seconds += 0.5) {
      if (connection.isConnected) server.events?.onClosed();
      await clock.advance(500);
    }
    expect(server.connects).toBe(MOST_ATTEMPTS);
  });

  test('is not made again automatically when it is not supervised', async () => {
    const { connection, server, clock } = await connected({ isSupervised: false });
    server.events?.onClosed();
    await clock.advance(100_000);
    await settle();
    expect(server.connects).toBe(1);
    await connection.need();
    expect(server.connects).toBe(2);
  });

  test('to another address ends the one before', async () => {
    const { connection, server } = await connected();
    await connection.aim({ ...target });
    expect(server.closes).toBe(0);
    await connection.aim({ ...target, url: 'http://b.example/' });
    expect({ closes: server.closes, isConnected: connection.isConnected }).toEqual({ closes: 1, isConnected: false });
  });

  test('B-06 starts nothing after close', async () => {
    const { connection, server, clock } = await connected();
    server.events?.onClosed();
    await connection.close();
    await clock.advance(100_000);
    await settle();
    expect(await codeOf(connection.need())).toBe('E_MCP_CONNECT');
    expect(server.connects).toBe(1);
  });

  test('B-06 closed while it is tried again is not tried any more', async () => {
    const { connection, server, clock, statuses } = await connected();
    const held = Promise.withResolvers<void>();
    server.connect = () => held.promise;
    server.events?.onClosed();
    await clock.advance(60_000);
    expect(server.connects).toBe(2);
    const closed = connection.close();
    held.reject(new McpFailure('unreached', 'nobody is there.'));
    await closed;
    await settle();
    expect(clock.pending).toBe(0);
    expect(statuses.map(({ state }) => state)).not.toContain('failed');
  });

  test('B-06 closed while it is made does not exist', async () => {
    const { connection, server } = setUp();
    await connection.aim(target);
    const held = Promise.withResolvers<void>();
    server.connect = () => held.promise;
    const needed = codeOf(connection.need());
    await settle();
    const closed = connection.close();
    held.resolve();
    expect(await needed).toBe('E_MCP_CONNECT');
    await closed;
    expect(connection.isConnected).toBe(false);
  });

  test('a caller that stops waiting does not stop the others', async () => {
    const { connection, server } = setUp();
    await connection.aim(target);
    const held = Promise.withResolvers<void>();
    server.connect = () => held.promise;
    const impatient = new AbortController();
    const first = connection.need(impatient.signal).catch((reason: unknown) => reason);
    const second = connection.need();
    impatient.abort('enough');
    expect(await first).toBe('enough');
    held.resolve();
    await second;
  });
});

describe('a request', () => {
  const failing = (...kinds: ConstructorParameters<typeof McpFailure>[0][]) => {
    const left = [...kinds];
    const asked = { times: 0 };
    const work = async () => {
      asked.times += 1;
      const kind = left.shift();
      if (kind !== undefined) throw new McpFailure(kind, 'why.');
      return 'answer';
    };
    return { work, asked };
  };

  test.each(['unreached', 'session-lost'] as const)('is repeated after %s: the server did nothing', async (kind) => {
    const { connection, server } = await connected();
    const { work, asked } = failing(kind);
    expect(await connection.ask(work, { signal })).toBe('answer');
    expect({ ...asked, connects: server.connects }).toEqual({ times: 2, connects: 2 });
  });

  test('is not repeated when it may have taken effect, unless that does no harm', async () => {
    const { connection } = await connected();
    const once = failing('broken');
    expect(await codeOf(connection.ask(once.work, { signal }))).toBe('E_MCP_CONNECT');
    expect(once.asked.times).toBe(1);
    const again = failing('broken');
    expect(await connection.ask(again.work, { signal, mayRepeat: true })).toBe('answer');
  });

  test('is made twice at most', async () => {
    const { connection } = await connected();
    const { work, asked } = failing('session-lost', 'session-lost', 'session-lost');
    expect(await codeOf(connection.ask(work, { signal }))).toBe('E_MCP_CONNECT');
    expect(asked.times).toBe(2);
  });

  test.each([
    ['timeout', 'E_MCP_TIMEOUT'],
    ['refused', 'E_MCP_CALL'],
  ] as const)('with a %s does not end the connection', async (kind, code) => {
    const { connection } = await connected();
    expect(await codeOf(connection.ask(failing(kind).work, { signal, mayRepeat: true }))).toBe(code);
    expect(connection.isConnected).toBe(true);
  });
});

describe('a changed list', () => {
  test('B-06 is read again, even when it changed while it was read', async () => {
    const { connection, server, clock, lists } = await connected();
    const held = Promise.withResolvers<void>();
    server.list = () => held.promise;
    server.events?.onToolsChanged();
    await settle();
    server.events?.onToolsChanged();
    server.events?.onToolsChanged();
    server.tools = 3;
    held.resolve();
    await settle();
    await clock.advance(200);
    await connection.settled();
    expect(lists).toEqual([1, 3, 3]);
  });

  test('B-06 is read again when it changed while the connection was made', async () => {
    const { connection, server, lists } = setUp();
    await connection.aim(target);
    let first = true;
    server.list = async () => {
      if (first) server.events?.onToolsChanged();
      first = false;
    };
    await connection.need();
    await connection.settled();
    expect(lists).toEqual([1, 1]);
  });

  test('B-06 ends the connection when it cannot be read again, because the offered tools are unknown', async () => {
    const { connection, server, lines } = await connected();
    server.list = () => Promise.reject(new McpFailure('timeout', 'no answer.'));
    server.events?.onToolsChanged();
    await connection.settled();
    expect(connection.isConnected).toBe(false);
    expect(lines.some((line) => line.startsWith('mcp.lost'))).toBe(true);
  });

  test('delays a step only for a while', async () => {
    const { connection, server, clock } = await connected();
    server.list = () => new Promise<void>(() => {});
    server.events?.onToolsChanged();
    await settle();
    const waited = connection.settled();
    await clock.advance(2_000);
    await waited;
  });

  test('an error outside all requests is examined, once a second', async () => {
    const { connection, server, clock, lists } = await connected();
    await clock.advance(5_000);
    server.events?.onTrouble('the stream ended');
    await connection.settled();
    server.events?.onTrouble('the stream ended');
    await connection.settled();
    expect(lists).toEqual([1, 1]);
    await clock.advance(1_000);
    server.list = down;
    server.events?.onTrouble('the stream ended');
    await connection.settled();
    expect(connection.isConnected).toBe(false);
  });
});

describe('the status', () => {
  test('is reported at every change: connecting, connected, lost, tried again, back', async () => {
    const { connection, server, clock, statuses } = setUp();
    await connection.aim(target);
    await connection.need();
    await clock.advance(60_000);
    server.connect = down;
    server.lastWords = { exit: 'SIGKILL ended it.', lines: ['out of memory'] };
    server.events?.onClosed();
    await clock.advance(500);
    await settle();
    server.connect = () => Promise.resolve();
    await clock.advance(1_000);
    await settle();
    expect(statuses.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1])).toEqual([
      'idle',
      'connecting',
      'connected',
      'reconnecting',
      'failed',
      'reconnecting',
      'connected',
    ]);
    expect(statuses.find(({ lost }) => lost === 1)).toEqual({
      state: 'reconnecting',
      target: 'http://a.example/',
      problem: 'the server closed the connection. SIGKILL ended it.',
      lines: ['out of memory'],
      lost: 1,
    });
    expect(statuses.at(-1)).toMatchObject({
      state: 'connected',
      lost: 1,
      problem: expect.stringContaining('E_MCP_CONNECT'),
    });
  });

  test('is failed for a server that never started, with code and last lines; then connected, without them', async () => {
    const { connection, server, clock, statuses } = setUp();
    await connection.aim(target);
    server.connect = down;
    server.lastWords = { exit: 'Its process ended with code 3.', lines: ['bad\u001b[2Jtoken', 'bye'] };
    expect(await codeOf(connection.need())).toBe('E_MCP_CONNECT');
    expect(statuses.at(-1)).toEqual({
      state: 'failed',
      target: 'http://a.example/',
      problem: 'MCP server "x" cannot be reached: nobody is there. (E_MCP_CONNECT)',
      lines: ['bad[2Jtoken', 'bye'],
    });
    await clock.advance(1_000);
    server.connect = () => Promise.resolve();
    await connection.need();
    expect(statuses.at(-1)).toEqual({ state: 'connected', target: 'http://a.example/' });
  });

  test('is idle between uses of a connection that is made on demand', async () => {
    const { connection, statuses } = await connected({ isSupervised: false });
    await connection.release();
    expect(statuses.at(-1)).toEqual({ state: 'idle', target: 'http://a.example/' });
  });

  test('stays failed when a connection that could not be made is released', async () => {
    const { connection, server, statuses } = setUp({ isSupervised: false });
    await connection.aim(target);
    server.connect = down;
    expect(await codeOf(connection.need())).toBe('E_MCP_CONNECT');
    await connection.release();
    expect(statuses.at(-1)).toMatchObject({ state: 'failed' });
  });
});
