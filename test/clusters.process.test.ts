// Follows docs/clusters.md on one machine, with a real PostgreSQL, and looks for its secrets.
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../packages/postgres/src/testing/with-postgres.ts';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { launchCommand } from '../packages/cli/bin/launch-command.cjs';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { makeTestDatabase, type TestDatabase } from '../packages/postgres/src/testing/test-database.ts';
import { readSteps } from './follow-page.ts';
import { readRepository, repository } from './read-repository.ts';
import { sampleStep } from './samples.ts';

setDefaultTimeout(300_000);

// The server of the tests asks nobody for a password; a node has one all the same.
const PASSWORD = 'hush-hush-hush';
const place = new GdnPlace();
let made: TestDatabase;
let store: string;

beforeAll(async () => {
  symlinkSync(join(repository, 'node_modules'), join(place.folder, 'node_modules'));
  made = await makeTestDatabase({ hasTables: false });
  const address = new URL(made.address);
  address.password = PASSWORD;
  store = address.href;
});
afterAll(async () => {
  expect(await place.remove()).toEqual([]);
  await made.drop();
});

/** Bun starts as the launcher would start it, because Node is slow to start. Only `npm run proof` uses the launcher. */
const launched = launchCommand(process.execPath, '', []).command.slice(0, -1).map(quote).join(' ');
const gdn =
  sampleStep === 1
    ? 'gdn() { node "$GDN_LAUNCHER" "$@"; }'
    : `gdn() { ( FOLDER=$PWD; cd / && ${launched} "$FOLDER" "$@" ); }`;

/** Runs a script in one shell, so that its variables stay set, and returns what it printed. */
async function inShell(script: string) {
  const child = Bun.spawn(['sh', '-c', `${gdn}\n${script}`], {
    cwd: place.folder,
    env: {
      ...process.env,
      ...{ ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' },
      GDN_LAUNCHER: join(repository, 'packages/cli/bin/gdn.cjs'),
      GOONDAN_STATE_ROOT: place.stateRoot,
      DATABASE_URL: store,
      HOME: place.folder,
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
    // Only `npm run proof` has a third node, which does what the second one does.
    const typed = commands.filter((command) => sampleStep === 1 || !command.endsWith('--node three'));
    const checked = typed.map(
      (command) => `${command}\n[ $? = 0 ] || { echo "FAILED: "${quote(command)} >&2; exit 1; }`,
    );
    const { stdout, stderr, exitCode } = await inShell(checked.join('\n'));
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Imported 1 conversation of swarm "my-swarm"');
    expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
  });

  test('S-06 S-08 no secret is in a process list, nor in an agent process', async () => {
    const started = await inShell(
      'export GOONDAN_STORE=@gdn-secrets/store.txt GOONDAN_CLUSTER_TOKEN=@gdn-secrets/token.txt\n' +
        'gdn run my-swarm --trust --detach --node one && ' +
        'gdn send --bundle my-swarm --input "Are you there?" --wait',
    );
    expect({ ...started, stdout: '' }).toMatchObject({ exitCode: 0 });
    const again = await inShell(
      'GOONDAN_STORE=@gdn-secrets/store.txt GOONDAN_CLUSTER_TOKEN=@gdn-secrets/token.txt gdn run my-swarm --trust --detach --node one',
    );
    expect(again.stderr).toMatch(/or stop it with `gdn stop .* --node one`/);
    const token = readFileSync(join(place.folder, 'gdn-secrets/token.txt'), 'utf8').trim();
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
      await inShell(
        'GOONDAN_STORE=@gdn-secrets/store.txt GOONDAN_CLUSTER_TOKEN=@gdn-secrets/token.txt gdn stop --bundle my-swarm',
      ),
    ).toMatchObject({
      exitCode: 0,
    });
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
