// Follows docs/clusters.md on one machine, with a real PostgreSQL that needs a password, and looks for its secrets.
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../packages/postgres/src/testing/with-postgres.ts';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { openDatabase } from '../packages/postgres/src/driver/database.ts';
import { type Server, startServer } from '../packages/postgres/src/embedded/start-server.ts';
import { readSteps } from './follow-page.ts';
import { readRepository, repository } from './read-repository.ts';

setDefaultTimeout(300_000);

const PASSWORD = 'hush-hush-hush';
const place = new GdnPlace();
let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gdn-pg-'));
  symlinkSync(join(repository, 'node_modules'), join(place.folder, 'node_modules'));
  server = await startServer({ folder, password: PASSWORD, settings: { fsync: 'off', max_connections: '200' } });
  const database = openDatabase(server.addressOf('postgres'), { connections: 1 });
  await database.query('create database gdn');
  await database.close();
});
afterAll(async () => {
  expect(await place.remove()).toEqual([]);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a script in one shell, so that its variables stay set, and returns what it printed. */
async function inShell(script: string) {
  const child = Bun.spawn(['sh', '-c', `gdn() { node "$GDN_LAUNCHER" "$@"; }\n${script}`], {
    cwd: place.folder,
    env: {
      ...process.env,
      ...{ ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' },
      GDN_LAUNCHER: join(repository, 'packages/cli/bin/gdn.cjs'),
      GOONDAN_STATE_ROOT: place.stateRoot,
      DATABASE_URL: server.addressOf('gdn'),
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

/** Reads a file of every process, except this one and that of the server's own start. */
function readProcesses(file: 'cmdline' | 'environ'): Map<string, string> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return new Map(
    pids.flatMap((pid) => {
      try {
        return [[pid, readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ')]];
      } catch {
        return [];
      }
    }),
  );
}

describe('docs/clusters.md', () => {
  const [page] = readRepository('docs/clusters.md');
  const commands = readSteps(page?.text ?? '').flatMap((step) => (step.does === 'type' ? [step.command] : []));

  test('S-08 every command works, in order', async () => {
    expect(commands).toContain('gdn store init');
    const checked = commands.map(
      (command) => `${command}\n[ $? = 0 ] || { echo "FAILED: "${quote(command)} >&2; exit 1; }`,
    );
    const { stdout, stderr, exitCode } = await inShell(checked.join('\n'));
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Imported 1 conversation of swarm "default"');
    expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
  });

  test('S-06 S-08 no secret is in a process list, nor in an agent process', async () => {
    const started = await inShell(
      'export GOONDAN_STORE=@store.txt GOONDAN_CLUSTER_TOKEN=@token.txt\n' +
        'gdn run my-swarm --trust --detach --node one && ' +
        'gdn send --bundle my-swarm --input "Are you there?" --wait',
    );
    expect({ ...started, stdout: '' }).toMatchObject({ exitCode: 0 });
    const again = await inShell(
      'GOONDAN_STORE=@store.txt GOONDAN_CLUSTER_TOKEN=@token.txt gdn run my-swarm --trust --detach --node one',
    );
    expect(again.stderr).toMatch(/or stop it with `gdn stop .* --node one`/);
    const token = readFileSync(join(place.folder, 'token.txt'), 'utf8').trim();
    const secrets = [PASSWORD, encodeURIComponent(PASSWORD), token];
    const shown = [...readProcesses('cmdline')].filter(([, line]) => secrets.some((secret) => line.includes(secret)));
    expect(shown).toEqual([]);
    const lines = readProcesses('cmdline');
    const agents = [...readProcesses('environ')].filter(([, text]) => text.includes('GOONDAN_CHILD='));
    expect(agents).not.toBeEmpty();
    const leaking = agents.filter(([, text]) =>
      /GOONDAN_STORE|GOONDAN_CLUSTER_TOKEN|DATABASE_URL|postgres:\/\//.test(text),
    );
    expect(leaking.map(([pid]) => lines.get(pid))).toEqual([]);
    expect(
      await inShell('GOONDAN_STORE=@store.txt GOONDAN_CLUSTER_TOKEN=@token.txt gdn stop --bundle my-swarm'),
    ).toMatchObject({
      exitCode: 0,
    });
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
