// Tests the published reference servers of the protocol, over stdio and over HTTP.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { JsonObject, JsonValue } from '@goondan/types';
import { type Answer, extension, fakeApprover, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { register } from './register.ts';
import { obedientModel } from './testing/obedient-model.ts';
import { isAlive, ServerPlace } from './testing/server-place.ts';
import { sampledCases, testInProof } from '../../../../../test/samples.ts';
import { until } from '../../../../../test/until.ts';

// This timeout is long, because each server is a Node process that starts slowly.
setDefaultTimeout(60_000);

const programOf = (server: string) =>
  join(dirname(Bun.resolveSync(`@modelcontextprotocol/${server}/package.json`, import.meta.dir)), 'dist/index.js');
const everything = programOf('server-everything');
const filesystem = programOf('server-filesystem');

const place = new ServerPlace();
afterAll(() => place[Symbol.dispose]());

/** The connections that the running test opened. */
const opened: Connection[] = [];
afterEach(async () => {
  for (const connection of opened.splice(0)) await connection.close();
});

/** An agent with one server. */
class Connection {
  private constructor(
    readonly agent: ScriptedAgent,
    readonly person: ReturnType<typeof fakeApprover>,
  ) {}

  static async open(transport: JsonObject, config: JsonObject = {}): Promise<Connection> {
    const person = fakeApprover(answerAsPerson);
    const agent = await scriptedAgent({
      approver: person,
      bundleFolder: place.folder,
      workdir: place.folder,
      extensions: [extension('server', register, { config: { transport, ...config } })],
      model: obedientModel('server'),
    });
    return new Connection(agent, person);
  }

  /** The answers of people in the traces of the latest tool calls. */
  answers: unknown[] = [];

  /** Returns the result of a tool call as the model gets it. */
  async call(tool: string, args: JsonObject = {}): Promise<JsonValue> {
    const { result, trace } = await this.agent.say(`${tool} ${JSON.stringify(args)}`);
    expect(result.error).toBeUndefined();
    const calls = trace?.inside.flatMap(({ inside }) => inside) ?? [];
    this.answers.push(...calls.flatMap(({ answers = [] }) => answers));
    const results = (await this.agent.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content : []));
    const output = results.at(-1)?.output;
    // Safe: content parts are JSON, but TypeScript does not accept an interface as JSON.
    return output === undefined || !('value' in output) ? null : (output.value as unknown as JsonValue);
  }

  offered(): string[] {
    return this.agent.requests.at(-1)?.tools.map(({ name }) => name.replace(/^server__/, '')) ?? [];
  }

  logged(event: string): string[] {
    return this.agent.logs.map(({ message }) => message).filter((message) => message.startsWith(`mcp.${event}`));
  }

  close(): Promise<void> {
    return this.agent.close();
  }
}

/** A person who fills every form with a name, and opens all pages but one. */
const answerAsPerson: Answer = ({ kind, url = '' }) => {
  if (url.endsWith('/never')) return { decision: 'denied', by: 'ana', via: 'chat' };
  return {
    decision: 'approved',
    by: 'ana',
    via: 'chat',
    ...(kind === 'form' && { content: { name: 'Ana', integer: 7 } }),
  };
};

async function askPerson(server: Connection): Promise<void> {
  // The server lists these tools after the handshake, when it knows that people can be asked.
  await until(async () => {
    await server.agent.say('hello');
    return server.offered().includes('trigger-url-elicitation');
  });
  const form = await server.call('trigger-elicitation-request');
  expect(form).toContain('- Name: Ana');
  expect(form).toContain('- Favorite Integer: 7');
  // A field that the person left out is not sent, although the server has a default for it.
  expect(form).not.toContain('- Favorite Number');
  const { questions } = server.person;
  expect(questions.at(-1)).toMatchObject({ kind: 'form', askedBy: { extension: 'server', server: 'server' } });
  const url = 'https://example.com/page';
  expect(await server.call('trigger-url-elicitation', { url })).toContain('User completed the URL elicitation flow.');
  expect(await server.call('trigger-url-elicitation', { url: `${url}/never` })).toContain('User declined');
  // The server demands another page first.
  expect(await server.call('trigger-url-elicitation', { url, errorPath: true })).toContain('User completed');
  expect(questions.slice(-2).map((each) => each.url)).toEqual(['https://modelcontextprotocol.io/', url]);
  const person = { by: 'ana', via: 'chat' };
  expect(server.answers).toEqual([
    { kind: 'form', decision: 'approved', ...person },
    { kind: 'page', decision: 'approved', ...person },
    { kind: 'page', decision: 'denied', ...person },
    { kind: 'page', decision: 'approved', ...person },
    { kind: 'page', decision: 'approved', ...person },
  ]);
  const wrong = await server.call('trigger-url-elicitation', { url: 'ftp://example.com/' });
  expect(JSON.stringify(wrong)).toContain('must begin with https:');
}

/** Opens a connection for the running test. */
async function open(transport: JsonObject, config: JsonObject = {}): Promise<Connection> {
  const connection = await Connection.open(transport, config);
  opened.push(connection);
  return connection;
}

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
      { within: 30_000 },
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

const exposed = { expose: { resources: true, prompts: true } };

async function listAndCall(server: Connection): Promise<void> {
  expect(await server.call('echo', { message: 'hello' })).toBe('Echo: hello');
  expect(server.offered()).toEqual(
    expect.arrayContaining(['echo', 'get-sum', 'list_resources', 'read_resource', 'list_prompts', 'get_prompt']),
  );
  expect(await server.call('get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.');
  expect(await server.call('get-structured-content', { location: 'New York' })).toMatchObject({ conditions: 'Cloudy' });
  const reference = expect.stringMatching(/^blob:sha256-/);
  expect(await server.call('get-tiny-image')).toMatchObject([
    { type: 'text' },
    { type: 'image', image: reference, mediaType: 'image/png', size: 4_033 },
    { type: 'text' },
  ]);
  expect(await server.call('get-sum', { a: 'two' })).toMatchObject({ code: 'E_TOOL_ARGUMENTS' });

  const { resources, resourceTemplates } = (await server.call('list_resources')) as Record<string, JsonObject[]>;
  expect(resources?.map(({ uri }) => uri)).toContain('demo://resource/static/document/features.md');
  expect(resourceTemplates?.[0]).toMatchObject({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' });
  expect(await server.call('read_resource', { uri: 'demo://resource/dynamic/text/7' })).toMatchObject({
    contents: [{ uri: 'demo://resource/dynamic/text/7', mimeType: 'text/plain', text: expect.stringContaining('7') }],
  });
  expect(await server.call('read_resource', { uri: 'demo://resource/dynamic/blob/7' })).toMatchObject({
    contents: [{ bytes: expect.any(Number), omitted: 'not text' }],
  });
  expect(await server.call('read_resource', { uri: 'demo://nothing' })).toMatchObject({ code: 'E_MCP_CALL' });

  const { prompts } = (await server.call('list_prompts')) as Record<string, JsonObject[]>;
  expect(prompts?.map(({ name }) => name)).toContain('args-prompt');
  expect(await server.call('get_prompt', { name: 'args-prompt', arguments: { city: 'Rome' } })).toMatchObject({
    messages: [{ role: 'user', content: { type: 'text', text: "What's weather in Rome?" } }],
  });

  // A resource that a tool adds is in the list at once.
  await server.call('gzip-file-as-resource', {
    name: 'hi.gz',
    data: 'data:text/plain;base64,aGk=',
    outputType: 'resourceLink',
  });
  expect(JSON.stringify(await server.call('list_resources'))).toContain('demo://resource/session/hi.gz');
}

// One process serves the tests of this group; the test that kills it waits for the next one.
describe('server-everything over stdio', () => {
  const transport = { type: 'stdio', command: 'node', args: [everything] };
  let server: Connection;
  beforeAll(async () => {
    server = await Connection.open({ ...transport, env: { DECLARED: 'yes' } }, exposed);
  });
  afterAll(() => server.close());

  test('B-06 list, call, resources, prompts', () => listAndCall(server));

  test('N-01 questions of the server reach a person', () => askPerson(server));

  test('B-06 list_changed, for a tool that exists only after the handshake', async () => {
    await server.agent.say('hello');
    await until(() => server.logged('listed').some((message) => message.includes('its tools')));
    // The new tool can be called only as a task, so it is not offered.
    expect(server.logged('withheld')[0]).toContain('"simulate-research-query" is not offered');
  });

  // `register.process.test.ts` kills a server, too.
  testInProof('killed and back', async () => {
    await server.call('echo', { message: 'one' });
    const pid = serverProcess();
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    await until(() => server.logged('lost').length === 1);
    expect(await server.call('echo', { message: 'two' })).toBe('Echo: two');
    expect(serverProcess()).not.toBe(pid);
  });

  test('its environment has only declared variables', async () => {
    const environment = JSON.parse((await server.call('get-env')) as string) as Record<string, string>;
    expect(environment).toMatchObject({ DECLARED: 'yes', PATH: process.env.PATH ?? '' });
    const known =
      /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|GOONDAN_(?:RUN|CHILD|COMMAND)|DECLARED)$/;
    expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
  });

  test('a long call reports progress, which extends its deadline', async () => {
    const patient = await open(transport, { timeouts: { callMs: 1_500 } });
    const said = await patient.call('trigger-long-running-operation', { duration: 3, steps: 6 });
    expect(said).toBe('Long running operation completed. Duration: 3 seconds, Steps: 6.');
    expect(patient.logged('progress').length).toBeGreaterThan(2);
  });
});

// One process serves the tests of this group; the test that kills it starts it again.
describe('server-everything over HTTP', () => {
  let web: WebServer;
  beforeAll(async () => {
    web = await WebServer.start();
  });
  afterAll(() => web.stop());

  testInProof('B-06 list, call, resources, prompts', async () => {
    await listAndCall(await open({ type: 'http', url: web.url }, exposed));
  });

  test('N-01 questions of the server reach a person', async () => {
    await askPerson(await open({ type: 'http', url: web.url }));
  });

  test('killed and back, in a new session', async () => {
    const server = await open({ type: 'http', url: web.url });
    expect(await server.call('echo', { message: 'one' })).toBe('Echo: one');

    await web.stop();
    expect(await server.call('echo', { message: 'two' })).toMatchObject({ code: 'E_MCP_CONNECT' });
    expect(server.offered()).toContain('echo');

    await web.begin();
    await until(async () => (await server.call('echo', { message: 'three' })) === 'Echo: three');
    expect(server.logged('starting').length).toBeGreaterThan(1);
  });

  test.each([...sampledCases([400, 404], 2, 1)])(
    'a server that lost the session (%d) gets the call in a new one',
    async (status) => {
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
      const server = await open({ type: 'http', url: `http://127.0.0.1:${proxy.port}/mcp` });
      expect(await server.call('echo', { message: 'one' })).toBe('Echo: one');
      for (const session of sessions) if (session !== '') forgotten.add(session);
      expect(await server.call('echo', { message: 'two' })).toBe('Echo: two');
      expect(server.logged('lost')[0]).toContain('has lost this session');
    },
  );
});

describe('server-filesystem', () => {
  const transport = { type: 'stdio', command: 'node', args: [filesystem, '${GOONDAN_WORKDIR}'] };

  test('reads and writes in its folder only', async () => {
    place.write('note.txt', 'Buy flour.');
    const server = await open(transport);
    expect(await server.call('read_text_file', { path: join(place.folder, 'note.txt') })).toMatchObject({
      content: 'Buy flour.',
    });
    expect(server.offered()).toEqual(expect.arrayContaining(['read_text_file', 'write_file', 'list_directory']));
    await server.call('write_file', { path: join(place.folder, 'new.txt'), content: 'done' });
    expect(await Bun.file(join(place.folder, 'new.txt')).text()).toBe('done');
    expect(await server.call('read_text_file', { path: '/etc/hostname' })).toMatchObject({ code: 'E_MCP_TOOL' });
  });

  testInProof('only allowed tools are offered', async () => {
    const server = await open(transport, { expose: { tools: { allow: ['read_*', 'list_*'], deny: ['*media*'] } } });
    await server.agent.say('hello');
    expect(server.offered()).toEqual(expect.arrayContaining(['read_text_file', 'list_directory']));
    expect(server.offered().filter((name) => !/^(?:read|list)_/.test(name) || name.includes('media'))).toEqual([]);
  });
});

/** Finds the reference server of `server-everything over stdio`; it has no parameter. */
function serverProcess(): number {
  const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (parent === String(process.pid) && command.endsWith('server-everything/dist/index.js\0')) return Number(pid);
    } catch {
      // The process has exited meanwhile.
    }
  }
  throw new Error('There is no such process.');
}
