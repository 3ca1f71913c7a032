// Tests the sign-in of real swarms with the commands of a person. Every secret is a canary: none may show anywhere.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { visitAsPerson } from '../../../../../../scripts/conformance/stand-in-browser.ts';
import { launchCommand } from '../../../../../cli/bin/launch-command.cjs';
import { GdnPlace } from '../../../../../cli/src/testing/gdn-place.ts';
import { StudioPlace } from '../../../../../cli/src/testing/studio-place.ts';
import { sampledCases } from '../../../../../../test/samples.ts';
import { guardedBundle } from '../testing/guarded-bundle.ts';
import { GuardedServer } from '../testing/guarded-server.ts';
import { until } from '../../../../../../test/until.ts';

setDefaultTimeout(120_000);

let place: GdnPlace;
let server: GuardedServer;
beforeEach(async () => {
  place = new GdnPlace();
  server = new GuardedServer();
  await place.write('bundle', { 'goondan.yaml': guardedBundle(server.url) });
});
afterEach(async () => {
  await place.run('stop', '--bundle', 'bundle');
  await server.stop();
  expect(await place.remove()).toEqual([]);
});

async function send(agent: string, input: string): Promise<string> {
  const args = ['send', '--bundle', 'bundle', '--agent', agent, '--input', input, '--wait', '--json'];
  const { stdout, stderr } = await place.run(...args);
  return `${stdout}${stderr}`;
}

const loginArgs = ['mcp', 'login', 'server', '--bundle', 'bundle', '--trust'];
const startLogin = (...more: string[]) => place.start(...loginArgs, ...more);

async function login(...more: string[]) {
  const command = startLogin(...more);
  const printed = await visitAsPerson(command);
  return { printed, exitCode: await command.exited };
}

/** Reads all files below a folder. */
function textsBelow(folder: string, isLeftOut: (path: string) => boolean = () => false): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => !isLeftOut(path) && statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

/** Reads the command lines of all processes of the machine. */
function processList(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

describe('a swarm whose server needs a sign-in', () => {
  test('N-01 no token shows in logs, traces, history, telemetry, Studio, the process list, output and backups', async () => {
    const told: string[] = [];
    const collector = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        told.push(await request.text());
        return Response.json({});
      },
    });
    const studio = new StudioPlace({ stateRoot: place.stateRoot });
    const lists: string[] = [];
    const watching = setInterval(() => void lists.push(processList()), 50);
    try {
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      };
      await place.serveWith({ env }, 'bundle');
      const agents = ['plain', 'kept', 'shared'];
      const seen: string[] = [];
      const sendAll = async (input: string) => {
        const answers = await Promise.all(agents.map((agent) => send(agent, input)));
        seen.push(...answers);
        return answers;
      };
      /** Sends the input, and declines the sign-in that each agent asks a person for. */
      const sendDeclined = async (input: string) => {
        const over = { is: false };
        const sent = sendAll(input).finally(() => (over.is = true));
        while (!over.is) {
          const { stdout } = await place.run('approve', '--bundle', 'bundle', '--json');
          seen.push(stdout);
          const { questions } = JSON.parse(stdout) as { questions: readonly { id: string; kind: string }[] };
          for (const { id, kind } of questions) {
            expect(kind).toBe('page');
            seen.push((await place.run('deny', id, '--bundle', 'bundle')).stdout);
          }
        }
        return sent;
      };
      await sendAll('look');
      const status = async () => (await place.run('status', '--bundle', 'bundle', '--json')).stdout;
      expect((await status()).match(/E_MCP_SIGN_IN/g)?.length).toBeGreaterThanOrEqual(3);
      seen.push((await login()).printed);
      for (const answer of await sendAll('look')) expect(answer).toContain('look with ***');
      server.expireAccess();
      for (const answer of await sendAll('look')) expect(answer).toContain('look with ***');
      expect(server.count('refresh_token')).toBe(1);
      for (const answer of await sendAll('fail')) expect(answer).toContain('E_MCP_TOOL');
      for (const answer of await sendDeclined('write')) expect(answer).toContain('E_MCP_SIGN_IN');
      seen.push((await login('--json')).printed);
      for (const answer of await sendAll('write')) expect(answer).toContain('write with ***');
      server.expireAccess();
      server.expireRefresh();
      for (const answer of await sendDeclined('look')) expect(answer).toContain('E_MCP_SIGN_IN');
      seen.push((await login()).printed);
      for (let round = 0; round < 2; round += 1) {
        server.expireAccess();
        await sendAll('look');
      }

      await studio.enter();
      const [workspace = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
      const api = `/api/workspaces/${workspace}`;
      for (const path of ['', '/turns', ...agents.flatMap((agent) => conversationPaths(agent))]) {
        const answer = await studio.ask(`${api}${path}`);
        expect([path, answer.status]).toEqual([path, 200]);
        seen.push(await answer.text());
      }
      for (const command of ['status', 'logs', 'trace last', 'explain', 'mcp status', 'mcp test server --trust']) {
        seen.push(JSON.stringify(await place.run(...command.split(' '), '--bundle', 'bundle')));
      }
      await place.run('backup', 'copy', '--bundle', 'bundle');
      seen.push(JSON.stringify(await place.run('stop', '--bundle', 'bundle')));
      await until(() => told.length > 0);
      const files = textsBelow(place.folder, (path) => path.startsWith(join(place.stateRoot, 'mcp')));
      expect(files.length).toBeGreaterThan(10_000);
      expect(readdirSync(join(place.folder, 'copy')).length).toBeGreaterThan(0);

      const everything = { files, output: seen.join('\n'), telemetry: told.join('\n'), processes: lists.join('\n') };
      expect(server.secrets.size).toBeGreaterThanOrEqual(20);
      expect(new Set([...server.secrets.keys()].map((kind) => kind.replace(/ \d+$/, '')))).toEqual(
        new Set([
          'access token',
          'refresh token',
          'client secret',
          'code',
          'verifier',
          'id token',
          'authorization header',
        ]),
      );
      for (const [kind, secret] of server.secrets) {
        for (const form of [
          secret,
          Buffer.from(secret).toString('base64').replace(/=+$/, ''),
          encodeURIComponent(secret),
        ]) {
          const places = Object.entries(everything).filter(([, text]) => text.includes(form));
          expect([kind, places.map(([name]) => name)]).toEqual([kind, []]);
        }
      }
    } finally {
      clearInterval(watching);
      await studio.remove();
      await collector.stop(true);
    }
  });

  test.each([
    ...sampledCases(
      [
        ['before the server used the refresh token: the next process refreshes', 'beforeTokens', 'look with ***'],
        ['after the server used the refresh token: a person signs in again', 'afterTokens', 'E_MCP_SIGN_IN'],
      ] as const,
      2,
      1,
    ),
  ])('N-01 kill -9 of an agent while it refreshes, %s', async (_, moment, expected) => {
    await place.serve('bundle');
    await login();
    expect(await send('plain', 'look')).toContain('look with ***');
    const { stdout } = await place.run('status', '--bundle', 'bundle', '--json');
    const { agents } = JSON.parse(stdout) as { agents: { agent: string; pid: number }[] };
    const asked = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<never>();
    server.become({ [moment]: () => (asked.resolve(), killed.promise) });
    server.expireAccess();
    const lost = send('plain', 'look');
    await asked.promise;
    server.become({});
    process.kill(agents.find(({ agent }) => agent === 'plain')?.pid ?? 0, 'SIGKILL');
    await lost;
    server.expireAccess();
    const status = async () => (await place.run('status', '--bundle', 'bundle', '--json')).stdout;
    const answer = await send('plain', 'look');
    expect(`${answer}${await status()}`).toContain(expected);
    if (expected === 'E_MCP_SIGN_IN') expect((await login()).exitCode).toBe(0);
    expect(await send('plain', 'look')).toContain('look with ***');
    killed.reject(new Error('nobody waits'));
  });
});

const conversationPaths = (agent: string) => {
  const at = `agent=${agent}&instanceKey=default`;
  return [`/conversation?${at}`, `/timeline?${at}`, `/history?${at}`];
};

describe('gdn mcp login', () => {
  test('N-01 login, status and logout, as text and as JSON', async () => {
    const run = async (command: string) => (await place.run('mcp', ...command.split(' '), '--bundle', 'bundle')).stdout;
    const where = `"server" (${server.url})`;
    expect(await run('status')).toBe(`${where}: not signed in\n`);
    const { printed, exitCode } = await login();
    expect(exitCode).toBe(0);
    expect(printed).toContain(`${where}: signed in\n  issuer: ${server.origin}\n  scopes: read\n`);
    // The page shows what the command prints.
    const page = await Bun.file(join(import.meta.dir, '../../../../../../docs/base/mcp.md')).text();
    const [, shown = ''] = /\$ gdn mcp login tickets [^\n]+\n(.*?)```/s.exec(page) ?? [];
    expect(alike(printed)).toBe(
      alike(shown)
        .replaceAll('tickets:read', 'read')
        .replaceAll('tickets', 'server')
        .replaceAll('https://mcp.example.com/mcp', server.url)
        .replaceAll('https://login.example.com', server.origin),
    );
    expect(await run('status server')).toMatch(/scopes: read\n {2}access until: \S+Z, then renewed\n$/);
    expect(JSON.parse(await run('status --json'))).toEqual([
      {
        name: 'server',
        url: server.url,
        signedIn: true,
        issuer: server.origin,
        scopes: ['read'],
        expiresAt: expect.any(String),
        renewable: true,
      },
    ]);
    expect(await run('logout server --trust')).toBe('Signed out of "server". The tokens were revoked.\n');
    expect(await run('logout server --trust')).toBe('Nobody was signed in to "server".\n');
  });

  test('N-01 a person pastes the address of the last page, and a wrong one before', async () => {
    const launch = launchCommand(process.execPath, place.folder, loginArgs);
    const command = Bun.spawn(launch.command, {
      cwd: launch.cwd,
      env: { ...process.env, GOONDAN_STATE_ROOT: place.stateRoot },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const reader = new OutputReader(command.stderr);
    const [, address = ''] = await reader.find(/^\s+(https?:\/\/\S+)\n/m);
    const { headers } = await fetch(address, { redirect: 'manual' });
    void command.stdin.write('http://127.0.0.1/callback?code=wrong&state=wrong\n');
    await reader.find(/That is not the address at the end of this sign-in/);
    void command.stdin.write(`${headers.get('location')}\n`);
    expect(await command.exited).toBe(0);
    expect(await new Response(command.stdout).text()).toContain(': signed in');
  });

  test('N-01 Ctrl-C, kill -9 and a second login leave nothing behind', async () => {
    const mcp = join(place.stateRoot, 'mcp');
    const left = () => {
      try {
        return readdirSync(mcp).filter((name) => name.endsWith('.json') || name.endsWith('.next'));
      } catch {
        return [];
      }
    };
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const command = startLogin();
      await new OutputReader(command.stderr).find(/Ctrl-C ends it/);
      command.kill(signal);
      const exitCode = await command.exited;
      if (signal === 'SIGINT') expect(exitCode).toBe(130);
      expect(left()).toEqual([]);
    }
    expect((await login()).exitCode).toBe(0);
    expect(left()).toHaveLength(1);
  });
});

/** Replaces the parts of the output that differ each time. */
function alike(printed: string): string {
  return printed.replace(/\S+\/authorize\?\S+/, 'ADDRESS').replace(/\d{4}-\d\d-\d\d[ T][\d:]+Z?/, 'TIME');
}

/** Reads the output of a command until a pattern appears. */
class OutputReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #printed = '';

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  async find(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#printed);
      if (found !== null) return found;
      const { value, done } = await this.#pieces.next();
      if (done === true) throw new Error(`It ended before ${String(pattern)}: ${this.#printed}`);
      this.#printed += new TextDecoder().decode(value);
    }
  }
}
