// Tests a keeper at its socket, with a real server and many callers.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cleanup, type ExtensionStatus, GoondanError, type JsonObject } from '@goondan/types';
import { MOST_OPEN } from './caller.ts';
import { systemClock } from './clock.ts';
import { keep } from './keeper.ts';
import { KeptClient } from './kept-client.ts';
import { LONGEST_FRAME } from './kept-frames.ts';
import { McpFailure } from './mcp-failure.ts';
import type { AnswerQuestion } from './server-question.ts';
import { isAlive, ServerPlace } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(60_000);

const program = join(import.meta.dir, 'testing', 'counting-server.ts');
const unused = { type: 'http', url: 'unused', headers: {}, protocol: 'auto' } as const;
const VARIABLE = 'KEEPER_TEST_VARIABLE';
const options = { timeoutMs: 30_000 };

let place: ServerPlace;
let socket: string;
let workdir: string;
let end: Cleanup | undefined;
let clients: KeptClient[];
let statuses: ExtensionStatus[];
let lines: string[];
beforeEach(() => {
  place = new ServerPlace();
  socket = join(place.folder, 'k.sock');
  clients = [];
  statuses = [];
  lines = [];
});
afterEach(async () => {
  for (const client of clients) await client.close();
  await end?.();
  end = undefined;
  place[Symbol.dispose]();
});

const transport = (...args: string[]) => ({ type: 'stdio', command: [process.execPath, program], args });

async function start(config: JsonObject = { transport: transport() }): Promise<void> {
  const say = (line: string) => void lines.push(line);
  const logger = { info: say, warn: say, debug: say } as unknown as Console;
  const report = (status: ExtensionStatus) => void statuses.push(status);
  const { folder } = place;
  workdir = folder;
  end = await keep({
    name: 'files',
    config,
    socket,
    bundleFolder: folder,
    get workdir() {
      return workdir;
    },
    logger,
    report,
  });
}

/** A caller that is connected to the keeper. */
async function caller() {
  const closed = Promise.withResolvers<void>();
  const client = new KeptClient(socket, systemClock, {
    onToolsChanged: () => undefined,
    onClosed: () => closed.resolve(),
    onTrouble: () => undefined,
    onRefused: () => undefined,
  });
  clients.push(client);
  await client.connect(unused, options);
  return { client, closed: closed.promise };
}

const textOf = (reply: { content: readonly { [field: string]: unknown }[] }) => String(reply.content[0]?.['text']);
const call = async (client: KeptClient, tool: string, args: JsonObject = {}) =>
  textOf(await client.callTool(tool, args, options));
const held = async (client: KeptClient) =>
  JSON.parse(await call(client, 'held')) as { waiting: string[]; cancelled: string[] };

test('L-02 N-04 a late answer or a withdrawn question does not end another call', async () => {
  const answer = { id: 2, value: { content: [{ text: 'right' }] } };
  const replies: object[][] = [[{ id: 1, value: {} }], [{ id: 99, value: 'late' }, { id: 2, withdrawn: 1 }, answer]];
  const linesOf = (frames: object[] = []) => frames.map((frame) => `${JSON.stringify(frame)}\n`).join('');
  using _ = Bun.listen({ unix: socket, socket: { data: (own) => void own.write(linesOf(replies.shift())) } });
  expect(await call((await caller()).client, 'any')).toBe('right');
});

describe('a keeper', () => {
  test('L-02 a server of .mcp.json is another one only when a variable or a folder changes that its entry uses', async () => {
    const connected = async (variable: string, folder: string) => {
      process.env[VARIABLE] = variable;
      workdir = folder;
      return (await call((await caller()).client, 'count')).split(' ')[0];
    };
    const write = (...args: string[]) => {
      const entry = { command: process.execPath, args: [program, ...args] };
      writeFileSync(join(place.folder, '.mcp.json'), JSON.stringify({ mcpServers: { files: entry } }));
    };
    try {
      write();
      await start({});
      expect([await connected('one', '/'), await connected('two', place.folder)]).toEqual(['1', '2']);
      write(`\${${VARIABLE}}`);
      expect([await connected('one', '/'), await connected('one', place.folder)]).toEqual(['1', '2']);
      expect(await connected('two', '/')).toBe('1');
      write('${GOONDAN_WORKDIR}');
      expect([await connected('one', '/'), await connected('two', '/')]).toEqual(['1', '2']);
      expect(await connected('two', place.folder)).toBe('1');
    } finally {
      delete process.env[VARIABLE];
    }
  });

  test('N-04 a question of the server reaches the caller whose call asks, and its answer this call only', async () => {
    const command = [process.execPath, join(import.meta.dir, 'testing', 'asking-server.ts')];
    await start({ transport: { type: 'stdio', command, protocol: 'auto' } });
    const callers = await Promise.all(['x', 'y'].map(async (label) => ({ label, ...(await caller()) })));
    const asked: Record<string, string[]> = { x: [], y: [] };
    const answers = callers.map(async ({ label, client }) => {
      const onQuestion: AnswerQuestion = async ({ message }) => {
        asked[label]?.push(message);
        // Both calls are open while either is asked.
        await Bun.sleep(50);
        return { action: 'accept', content: { branch: `of ${label}` } };
      };
      return JSON.parse(textOf(await client.callTool('ask', { label }, { ...options, onQuestion }))) as JsonObject;
    });
    const one = (label: string) => ({ action: 'accept', content: { branch: `of ${label}` } });
    expect(await Promise.all(answers)).toEqual(['x', 'y'].map((label) => ({ label, one: one(label) })));
    expect(asked).toEqual({ x: ['Which branch for x?'], y: ['Which branch for y?'] });
    const [{ client } = await caller()] = callers;
    const nobody = async () => {
      throw new GoondanError('E_APPROVAL_NOBODY', 'Nobody is here.');
    };
    const failed = client.callTool('ask', { label: 'x' }, { ...options, onQuestion: nobody });
    expect(failed).rejects.toMatchObject({ code: 'E_APPROVAL_NOBODY' });
    await failed.catch(() => undefined);
    const cancel = new AbortController();
    const withdrawn = Promise.withResolvers<void>();
    const wait: AnswerQuestion = (_, signal) => {
      signal.addEventListener('abort', () => withdrawn.resolve());
      cancel.abort(new Error('cancelled'));
      return new Promise(() => undefined);
    };
    const cancelled = client.callTool('ask', { label: 'x' }, { ...options, signal: cancel.signal, onQuestion: wait });
    expect(cancelled).rejects.toThrow('cancelled');
    await withdrawn.promise;
  });

  test('L-02 20 callers share one server: one cancels, one is killed, and the other 18 get their own answers and progress', async () => {
    await start();
    const callers = await Promise.all(Array.from({ length: 19 }, () => caller()));
    const pids = await Promise.all(callers.map(async ({ client }) => (await call(client, 'count')).split(' ')));
    expect(new Set(pids.map(([, pid]) => pid)).size).toBe(1);
    expect(pids.map(([count]) => Number(count)).toSorted((a, b) => a - b)).toEqual(pids.map((_, index) => index + 1));

    const killed = Bun.spawn([process.execPath, join(import.meta.dir, 'testing/holding-caller.ts'), socket, 'killed']);
    const cancel = new AbortController();
    const progress: string[][] = callers.map(() => []);
    const answers = callers.map(({ client }, index) =>
      client
        .callTool(
          'hold',
          { label: `call-${index}` },
          {
            ...options,
            ...(index === 0 ? { signal: cancel.signal } : {}),
            onProgress: (said) => void progress[index]?.push(said),
          },
        )
        .then(textOf, (error: unknown) => error),
    );
    // A caller may have several calls open.
    const second = callers[1]?.client.callTool('hold', { label: 'second' }, options).then(textOf);
    const { client: observer } = await caller();
    await until(async () => (await held(observer)).waiting.length === 21);
    cancel.abort(new Error('changed my mind'));
    killed.kill('SIGKILL');
    // The server is told of both.
    await until(async () => (await held(observer)).cancelled.length === 2);
    expect((await held(observer)).cancelled.toSorted()).toEqual(['call-0', 'killed']);
    await call(observer, 'release');
    const [first, ...others] = await Promise.all(answers);
    expect(first).toMatchObject({ message: 'changed my mind' });
    expect(others).toEqual(others.map((_, index) => `answer to call-${index + 1}`));
    expect(await second).toBe('answer to second');
    expect(progress).toEqual(progress.map((_, index) => [`progress of call-${index}`]));
  });

  test('L-02 a server that dies is started again by itself; its open call is broken, and every caller is told', async () => {
    await start();
    const [one, other] = await Promise.all([caller(), caller()]);
    const [, pid] = (await call(one.client, 'count')).split(' ');
    const open = one.client.callTool('hold', { label: 'open' }, options).catch((error: unknown) => error);
    await until(async () => (await held(other.client)).waiting.length === 1);
    process.kill(Number(pid), 'SIGKILL');
    expect(await open).toBeInstanceOf(McpFailure);
    expect(await open).toMatchObject({ kind: 'broken', endsConnection: true, leftNothing: false });
    await Promise.all([one.closed, other.closed]);
    await until(() => statuses.at(-1)?.state === 'connected');
    expect(statuses.at(-1)).toMatchObject({ state: 'connected', lost: 1 });
    const again = await caller();
    expect(await call(again.client, 'count')).toStartWith('1 ');
  });

  test('L-02 a failed call keeps its kind: the caller may repeat a call whose session the server has lost', async () => {
    let session = 0;
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': { tools: [] },
      'tools/call': { content: [{ type: 'text', text: 'called' }] },
    };
    using web = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        if (request.method !== 'POST') return new Response(null, { status: 405 });
        const { id, method } = (await request.json()) as { id?: number; method: string };
        if (method === 'initialize') session += 1;
        else if (request.headers.get('mcp-session-id') !== String(session)) return new Response('?', { status: 404 });
        if (id === undefined) return new Response(null, { status: 202 });
        const headers = { 'mcp-session-id': String(session) };
        return Response.json({ jsonrpc: '2.0', id, result: results[method] }, { headers });
      },
    });
    await start({ transport: { type: 'http', url: `http://127.0.0.1:${web.port}/mcp`, protocol: 'legacy' } });
    const { client, closed } = await caller();
    expect(await call(client, 'any')).toBe('called');
    session += 1;
    const lost = await client.callTool('any', {}, options).catch((error: unknown) => error);
    expect(lost).toMatchObject({ kind: 'session-lost', leftNothing: true });
    await closed;
    await client.connect(unused, options);
    expect(await call(client, 'any')).toBe('called');
  });

  test('L-02 another address is another server: of fromFile, read again with the next connect; the same address keeps it', async () => {
    const entry = (args: string[]) => ({
      mcpServers: { files: { command: process.execPath, args: [program, ...args] } },
    });
    place.write('.mcp.json', entry([]));
    await start({ fromFile: {} });
    const first = await call((await caller()).client, 'count');
    expect(await call((await caller()).client, 'count')).toBe(first.replace('1 ', '2 '));
    place.write('.mcp.json', entry(['--other']));
    const moved = await call((await caller()).client, 'count');
    expect(moved).toStartWith('1 ');
    await until(() => !isAlive(Number(first.split(' ')[1])));
  });

  test('a caller that floods, sends rubbish or no end is cut off, and the others do not notice', async () => {
    await start();
    const { client } = await caller();
    const request = (id: number) => ({
      id,
      method: 'callTool',
      name: 'hold',
      args: { label: String(id) },
      timeoutMs: 1,
    });
    const flood = Array.from({ length: MOST_OPEN + 2 }, (_, id) =>
      JSON.stringify({ ...request(id), timeoutMs: 60_000 }),
    );
    for (const [sent, problem] of [
      ['rubbish\n', 'not JSON'],
      ['{"id":1,"method":"steal","timeoutMs":1}\n', 'no request'],
      ['[]\n', 'no request'],
      [`${JSON.stringify(request(1))}\n${JSON.stringify(request(1))}\n`, 'twice'],
      [`${flood.join('\n')}\n`, 'open requests'],
      ['x'.repeat(LONGEST_FRAME + 2), 'characters'],
    ] as const) {
      const gone = Promise.withResolvers<void>();
      const bad = await Bun.connect({ unix: socket, socket: { data: () => undefined, close: () => gone.resolve() } });
      let rest = Buffer.from(sent);
      const push = () => void (rest = rest.subarray(Math.max(0, bad.write(rest))));
      bad.reload({ socket: { data: () => undefined, drain: push, close: () => gone.resolve() } });
      push();
      await gone.promise;
      expect(lines.at(-1)).toContain('mcp.cut_off');
      expect(lines.at(-1)).toContain(problem);
    }
    // All calls of the flood were cancelled at the server.
    await until(async () => (await held(client)).waiting.length === 0);
    expect(await call(client, 'count')).toStartWith('1 ');
  });

  test('L-02 arguments that are too long fail their own call; the other calls of the caller and its connection go on', async () => {
    await start();
    const { client } = await caller();
    const open = client.callTool('hold', { label: 'open' }, options).then(textOf, (error: unknown) => error);
    const tooLong = call(client, 'count', { text: 'x'.repeat(LONGEST_FRAME) });
    expect(await tooLong.catch((error: unknown) => error)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(String(LONGEST_FRAME)),
    });
    await until(async () => (await held(client)).waiting.length === 1);
    await call(client, 'release');
    expect(await open).toContain('open');
    expect(await call(client, 'count')).toStartWith('1 ');
    expect(lines.filter((line) => line.includes('mcp.cut_off'))).toEqual([]);
  });

  test('its socket is private; a caller waits for a keeper that starts, and closing the keeper ends the server', async () => {
    const early = caller();
    await Bun.sleep(1);
    await start();
    const { client, closed } = await early;
    const pid = Number((await call(client, 'count')).split(' ')[1]);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await end?.();
    await closed;
    expect(isAlive(pid)).toBe(false);
    const late = await client.callTool('count', {}, options).catch((error: unknown) => error);
    expect(late).toMatchObject({ kind: 'unreached' });
  });
});
