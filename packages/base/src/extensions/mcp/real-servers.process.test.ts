// Tests the published reference servers of the protocol, over stdio and over HTTP.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { JsonObject, JsonValue } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { register } from './register.ts';
import { obedientModel } from './testing/obedient-model.ts';
import { isAlive, ServerPlace, until } from './testing/server-place.ts';

// This timeout is long, because each server is a Node process that starts slowly.
setDefaultTimeout(60_000);

const programOf = (server: string) =>
  join(dirname(Bun.resolveSync(`@modelcontextprotocol/${server}/package.json`, import.meta.dir)), 'dist/index.js');
const everything = programOf('server-everything');
const filesystem = programOf('server-filesystem');

let place: ServerPlace;
let agent: ScriptedAgent;
let web: WebServer | undefined;
beforeEach(() => void (place = new ServerPlace()));
afterEach(async () => {
  await agent?.close();
  await web?.stop();
  web = undefined;
  place[Symbol.dispose]();
});

async function start(transport: JsonObject, config: JsonObject = {}): Promise<void> {
  agent = await scriptedAgent({
    bundleFolder: place.folder,
    workdir: place.folder,
    extensions: [extension('server', register, { config: { transport, ...config } })],
    model: obedientModel('server'),
  });
}

/** Returns the result of a tool call as the model gets it. */
async function call(tool: string, args: JsonObject = {}): Promise<JsonValue> {
  const { result } = await agent.say(`${tool} ${JSON.stringify(args)}`);
  expect(result.error).toBeUndefined();
  const results = (await agent.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content : []));
  const output = results.at(-1)?.output;
  return output === undefined || !('value' in output) ? null : output.value;
}

const offered = () => agent.requests.at(-1)?.tools.map(({ name }) => name.replace(/^server__/, '')) ?? [];
const logged = (event: string) => agent.logs.filter(({ message }) => message.startsWith(`mcp.${event}`));

/** The reference server over HTTP. It keeps its port when its process restarts. */
class WebServer {
  readonly #port: number;
  #child: Bun.Subprocess | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<WebServer> {
    const server = new WebServer(await freePort());
    await server.begin();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  async begin(): Promise<void> {
    const env = { ...process.env, PORT: String(this.#port) };
    this.#child = Bun.spawn(['node', everything, 'streamableHttp'], { env, stdout: 'ignore', stderr: 'ignore' });
    await until(
      () =>
        fetch(this.url).then(
          () => true,
          () => false,
        ),
      30_000,
    );
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#child?.exited;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const transports = [
  { over: 'stdio', open: async () => ({ type: 'stdio', command: 'node', args: [everything] }) },
  {
    over: 'http',
    open: async () => {
      web = await WebServer.start();
      return { type: 'http', url: web.url };
    },
  },
];

describe.each(transports)('server-everything over $over', ({ open }) => {
  test('B-06 list, call, resources, prompts', async () => {
    await start(await open(), { expose: { resources: true, prompts: true } });

    expect(await call('echo', { message: 'hello' })).toBe('Echo: hello');
    expect(offered()).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'list_resources', 'read_resource', 'list_prompts', 'get_prompt']),
    );
    expect(await call('get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.');
    expect(await call('get-structured-content', { location: 'New York' })).toMatchObject({ conditions: 'Cloudy' });
    expect(await call('get-tiny-image')).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png', bytes: 4_033, omitted: 'not text' }, {}],
    });
    expect(await call('get-sum', { a: 'two' })).toMatchObject({ code: 'E_TOOL_ARGUMENTS' });

    const { resources, resourceTemplates } = (await call('list_resources')) as Record<string, JsonObject[]>;
    expect(resources?.map(({ uri }) => uri)).toContain('demo://resource/static/document/features.md');
    expect(resourceTemplates?.[0]).toMatchObject({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' });
    expect(await call('read_resource', { uri: 'demo://resource/dynamic/text/7' })).toMatchObject({
      contents: [{ uri: 'demo://resource/dynamic/text/7', mimeType: 'text/plain', text: expect.stringContaining('7') }],
    });
    expect(await call('read_resource', { uri: 'demo://resource/dynamic/blob/7' })).toMatchObject({
      contents: [{ bytes: expect.any(Number), omitted: 'not text' }],
    });
    expect(await call('read_resource', { uri: 'demo://nothing' })).toMatchObject({ code: 'E_MCP_CALL' });

    const { prompts } = (await call('list_prompts')) as Record<string, JsonObject[]>;
    expect(prompts?.map(({ name }) => name)).toContain('args-prompt');
    expect(await call('get_prompt', { name: 'args-prompt', arguments: { city: 'Rome' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: "What's weather in Rome?" } }],
    });

    // A resource that a tool adds is in the list at once.
    await call('gzip-file-as-resource', {
      name: 'hi.gz',
      data: 'data:text/plain;base64,aGk=',
      outputType: 'resourceLink',
    });
    expect(JSON.stringify(await call('list_resources'))).toContain('demo://resource/session/hi.gz');
  });
});

describe('server-everything', () => {
  test('B-06 stdio: list_changed, for a tool that exists only after the handshake', async () => {
    await start({ type: 'stdio', command: 'node', args: [everything] });
    await agent.say('hello');
    await until(() => logged('listed').length === 1);
    expect(logged('listed')[0]?.message).toContain('its tools');
    // The new tool can be called only as a task, so it is not offered.
    expect(logged('withheld')[0]?.message).toContain('"simulate-research-query" is not offered');
  });

  test('B-06 stdio: killed and back', async () => {
    await start({ type: 'stdio', command: 'node', args: [everything] });
    await call('echo', { message: 'one' });
    const pid = serverProcess();
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    await until(() => logged('lost').length === 1);
    expect(await call('echo', { message: 'two' })).toBe('Echo: two');
    expect(serverProcess()).not.toBe(pid);
  });

  test('B-06 HTTP: killed and back, in a new session', async () => {
    web = await WebServer.start();
    await start({ type: 'http', url: web.url });
    expect(await call('echo', { message: 'one' })).toBe('Echo: one');

    await web.stop();
    expect(await call('echo', { message: 'two' })).toMatchObject({ code: 'E_MCP_CONNECT' });
    expect(offered()).toContain('echo');

    await web.begin();
    await until(async () => (await call('echo', { message: 'three' })) === 'Echo: three');
    expect(logged('started').length).toBeGreaterThan(1);
  });

  test.each([400, 404])('B-06 HTTP: a server that lost the session (%d) gets the call in a new one', async (status) => {
    web = await WebServer.start();
    const { url } = web;
    const sessions = new Set<string>();
    const forgotten = new Set<string>();
    using proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch(request) {
        const session = request.headers.get('mcp-session-id') ?? '';
        if (forgotten.has(session))
          return new Response('{"jsonrpc":"2.0","error":{"code":-32000,"message":"?"}}', { status });
        const { method, headers } = request;
        const answer = await fetch(url, { method, headers, body: method === 'POST' ? await request.text() : null });
        sessions.add(answer.headers.get('mcp-session-id') ?? session);
        return answer;
      },
    });
    await start({ type: 'http', url: `http://127.0.0.1:${proxy.port}/mcp` });
    expect(await call('echo', { message: 'one' })).toBe('Echo: one');
    for (const session of sessions) if (session !== '') forgotten.add(session);
    expect(await call('echo', { message: 'two' })).toBe('Echo: two');
    expect(logged('lost')[0]?.message).toContain('has lost this session');
  });

  test('B-06 a long call reports progress, which extends its deadline', async () => {
    const transport = { type: 'stdio', command: 'node', args: [everything] };
    await start(transport, { timeouts: { callMs: 1_500 } });
    const said = await call('trigger-long-running-operation', { duration: 3, steps: 6 });
    expect(said).toBe('Long running operation completed. Duration: 3 seconds, Steps: 6.');
    expect(logged('progress').length).toBeGreaterThan(2);
  });

  test('B-06 its environment has only declared variables', async () => {
    await start({ type: 'stdio', command: 'node', args: [everything], env: { DECLARED: 'yes' } });
    const environment = JSON.parse((await call('get-env')) as string) as Record<string, string>;
    expect(environment).toMatchObject({ DECLARED: 'yes', PATH: process.env.PATH ?? '' });
    const known =
      /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|GOONDAN_(?:RUN|CHILD|COMMAND)|DECLARED)$/;
    expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
  });
});

describe('server-filesystem', () => {
  const transport = { type: 'stdio', command: 'node', args: [filesystem, '${GOONDAN_WORKDIR}'] };

  test('B-06 reads and writes in its folder only', async () => {
    place.write('note.txt', 'Buy flour.');
    await start(transport);
    expect(await call('read_text_file', { path: join(place.folder, 'note.txt') })).toMatchObject({
      content: 'Buy flour.',
    });
    expect(offered()).toEqual(expect.arrayContaining(['read_text_file', 'write_file', 'list_directory']));
    await call('write_file', { path: join(place.folder, 'new.txt'), content: 'done' });
    expect(await Bun.file(join(place.folder, 'new.txt')).text()).toBe('done');
    expect(await call('read_text_file', { path: '/etc/hostname' })).toMatchObject({ code: 'E_MCP_TOOL' });
  });

  test('B-06 only allowed tools are offered', async () => {
    await start(transport, { expose: { tools: { allow: ['read_*', 'list_*'], deny: ['*media*'] } } });
    await agent.say('hello');
    expect(offered()).toEqual(expect.arrayContaining(['read_text_file', 'list_directory']));
    expect(offered().filter((name) => !/^(?:read|list)_/.test(name) || name.includes('media'))).toEqual([]);
  });
});

/** Finds the child of this process that is the reference server. */
function serverProcess(): number {
  const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (parent === String(process.pid) && command.includes('server-everything')) return Number(pid);
    } catch {
      // The process has exited meanwhile.
    }
  }
  throw new Error('There is no such process.');
}
