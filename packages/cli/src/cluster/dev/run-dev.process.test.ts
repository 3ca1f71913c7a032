// Tests `gdn cluster dev` with real nodes and a real PostgreSQL, and commands and Studio while a node dies.
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../../../../postgres/src/testing/with-postgres.ts';
import { openDatabase } from '../../../../postgres/src/driver/database.ts';
import { serverFolders } from '../../../../postgres/src/testing/server-folders.ts';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../../testing/gdn-place.ts';
import { noProviders } from '../../testing/no-providers.ts';
import { sampleBundle, tellTale } from '../../testing/sample-bundle.ts';
import { StudioPlace } from '../../testing/studio-place.ts';
import type { WorkspaceList, WorkspaceView } from '../../studio/contract.ts';
import type { NodeReply } from '../await-nodes.ts';
import { readClusterAccess } from '../cluster-access.ts';
import { testInProof } from '../../../../../test/samples.ts';
import { until } from '../../../../../test/until.ts';

// Processes start on a machine that may be busy.
setDefaultTimeout(180_000);

const place = new GdnPlace();
/** PostgreSQL runs as another user if the tests run as root, so others may enter this folder. */
const temporary = mkdtempSync(join(serverFolders(), 'gdn-dev-'));
chmodSync(temporary, 0o711);

beforeAll(async () => {
  expect(await place.runWith({ env: noProviders }, 'init', 'my-swarm', '--no-git')).toMatchObject({ exitCode: 0 });
  await place.write('quick', { 'goondan.yaml': sampleBundle() });
  await place.write('bad', {
    'goondan.yaml': sampleBundle(tellTale),
    'tell-tale.ts': "throw new Error('The module is not finished.');\n",
  });
});
afterAll(async () => {
  expect(await place.remove()).toEqual([]);
  rmSync(temporary, { recursive: true });
});

/** The nodes, their children and the servers that are left, and the files in the temporary folder. */
function leftovers(): readonly string[] {
  const servers = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(temporary);
    } catch {
      return false;
    }
  });
  // The folder of control sockets of this user stays, as after every swarm whose workspace has a long path.
  const files = readdirSync(temporary).filter((name) => !/^goondan-\d+$/.test(name));
  return [...place.processes(), ...servers, ...files];
}

/** Waits a little, because processes of a killed node end with a delay. */
async function expectNothing(): Promise<void> {
  for (let round = 0; round < 100 && leftovers().length > 0; round += 1) await Bun.sleep(100);
  expect(leftovers()).toEqual([]);
}

describe('gdn cluster dev', () => {
  // docs/clusters.md has this command, too, and `test/clusters.process.test.ts` types it.
  testInProof('S-03 --kill-one kills the node that runs the turn of a new bundle, and leaves nothing', async () => {
    const { stdout, stderr, exitCode } = await place.runProcessWith(
      { env: { TMPDIR: temporary } },
      ...['cluster', 'dev', 'my-swarm', '--trust', '--nodes', '2', '--lease', '2', '--kill-one'],
    );
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [, killed = ''] = /(node-\d) was killed/.exec(stdout) ?? [];
    const [, other = ''] = /answered by (node-\d): You said: Tell me a long story .*\n/.exec(stdout) ?? [];
    expect([killed, other].toSorted()).toEqual(['node-1', 'node-2']);
    await expectNothing();
  });

  testInProof('S-08 commands and Studio go on when a node dies, and Ctrl-C leaves nothing', async () => {
    const options = ['--trust', '--nodes', '2', '--lease', '2', '--json'];
    const child = place.startWith({ env: { TMPDIR: temporary } }, 'cluster', 'dev', 'quick', ...options);
    let said = '';
    const reading = (async () => {
      for await (const piece of child.stdout) said += new TextDecoder().decode(piece);
    })();
    await until(() => said.includes('\n') || child.exitCode !== null);
    const made = JSON.parse(said) as { store: string; token: string; nodes: { name: string; pid: number }[] };
    const env = { GOONDAN_STORE: made.store, GOONDAN_CLUSTER_TOKEN: made.token };
    const gdn = (...args: string[]) =>
      place.runWith({ env }, ...args, ...(args.includes('--bundle') ? [] : ['--bundle', 'quick']));
    const ask = async (input: string) => (await gdn('send', '--input', input, '--wait')).stdout;
    expect(await ask('one')).toBe('You said: one\n');

    const deploy = async (name: string) => {
      const { stdout, exitCode } = await gdn('deploy', '--bundle', name, '--json');
      return { ...(JSON.parse(stdout) as { replies: NodeReply[] }), exitCode };
    };
    const states = (replies: readonly NodeReply[]) => replies.map(({ node, state }) => `${node} ${state}`);
    const same = await deploy('quick');
    expect(same).toMatchObject({ deployed: false, exitCode: 0 });
    expect(states(same.replies)).toEqual(['node-1 taken', 'node-2 taken']);
    const bad = await deploy('bad');
    expect(bad).toMatchObject({ deployed: false, isTakenBack: true, exitCode: 1 });
    expect(states(bad.replies)).toEqual(['node-1 refused', 'node-2 refused']);
    expect(bad.replies[0]?.problem).toContain('The module is not finished.');
    // A node that starts now runs the bundle before: it is the deployed one again.
    expect(await deploy('quick')).toMatchObject({ deployed: false, exitCode: 0 });

    // 15 for each node, as docs/scale.md says, and four of the command.
    const database = openDatabase(readFileSync(made.store.slice(1), 'utf8').trim(), { connections: 1 });
    const [others] = await database.query<{ count: number }>(
      "select count(*) from pg_stat_activity where application_name = 'goondan' and pid <> pg_backend_pid()",
    );
    await database.close();
    expect(others?.count).toBeLessThanOrEqual(2 * 15 + 4);

    const cluster = readClusterAccess(made.store, env, 'a test');
    if (cluster === undefined) throw new Error('It has no store.');
    const studio = new StudioPlace({ cluster });
    await studio.enter();
    const stream = studio.watch('default');
    await until(() => stream.notices.some((notice) => notice.type === 'swarm' && notice.isRunning));
    const follow = ['logs', '--follow', '--last', '1', '--level', 'debug', '--bundle', 'quick'];
    const following = place.startWith({ env }, ...follow);

    const view = () => studio.read<WorkspaceView>('/api/workspaces/default');
    expect(await view()).toMatchObject({ isRunning: true, conversations: [{ messages: 2 }] });
    const { stdout } = await gdn('status', '--json');
    const [working] = (JSON.parse(stdout) as { agents: { node?: string }[] }).agents;
    const dying = made.nodes.find(({ name }) => name === working?.node) ?? made.nodes[0];
    process.kill(dying?.pid ?? 0, 'SIGKILL');

    expect(await ask('two')).toBe('You said: two\n');
    expect(await view()).toMatchObject({ isRunning: true, conversations: [{ messages: 4 }] });
    expect(await studio.read<WorkspaceList>('/api/workspaces')).toMatchObject({
      workspaces: [{ workspaceId: 'default', isRunning: true, instances: 1 }],
    });
    await until(() => stream.notices.filter(({ type }) => type === 'turn.ended').length > 0);
    for (const args of [['history'], ['trace', 'last'], ['instance', 'show'], ['logs', '--last', '3'], ['nodes']]) {
      expect(await gdn(...args)).toMatchObject({ exitCode: 0 });
    }
    expect(following.exitCode).toBeNull();
    following.kill('SIGINT');
    expect(await following.exited).toBe(130);

    stream.leave();
    await studio.remove();
    await cluster.close();
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    await reading;
    await expectNothing();
  });

  test('refuses options that do not fit, before it starts anything', async () => {
    for (const [args, message] of [
      [['--input', 'x'], "option '--input' needs option '--kill-one'"],
      [['--kill-one', '--nodes', '1'], "option '--kill-one' needs two nodes"],
      [['--nodes', '17'], 'It is not a number from 1 to 16.'],
      [['--database', 'postgres://me:hush@db/x'], 'E_STORE_ADDRESS'],
    ] as const) {
      const { stderr, exitCode } = await place.runWith({}, 'cluster', 'dev', 'quick', '--trust', ...args);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain('hush');
      expect([2, 3]).toContain(exitCode);
    }
  });
});
