// Commands on a state root that an older version wrote, in format 1.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { controlSocketPath, systemSocketEnvironment } from '@goondan/runtime/control';
import { systemFlock } from '../../../runtime/src/ports/flock.ts';
import { systemProcesses } from '../../../runtime/src/ports/processes.ts';
import { fixture, writeOldRoot } from '../../../../test/format-1/write-old-root.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { sampledCases, testInProof } from '../../../../test/samples.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

/** Conversations with input that waits. A swarm would start processes for them. */
const waiting = ['answers', 'interrupted', 'only-input'];

let place: GdnPlace;
beforeEach(async () => {
  place = new GdnPlace();
  const yaml = sampleBundle({ agents: ['coder'], swarm: 'policy: { spares: 0 }\nworkspace: shop' });
  await place.write('bundle', { 'goondan.yaml': yaml });
  writeOldRoot(place.stateRoot);
  for (const key of waiting)
    rmSync(join(place.stateRoot, `workspaces/shop/instances/coder~${key}`), { recursive: true });
});
afterEach(async () => expect(await place.remove()).toEqual([]));

const gdn = (typed: string) => place.run(...typed.split(' '), '--bundle', 'bundle');
const kept = () => join(place.stateRoot, 'format-1/workspaces/shop');
const workspace = () => join(place.stateRoot, 'workspaces/shop');
/** Lets this process own the workspace, like a running swarm. Returns the path of the file that says so. */
const ownOldRoot = () => {
  const path = join(workspace(), 'orchestrator.json');
  writeFileSync(path, JSON.stringify({ epoch: 1, owner: { ...systemProcesses.self(), holder: 'older' } }));
  return path;
};
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
/** The line that says that the conversations were migrated. */
const migration = () => {
  const old = join(place.stateRoot, 'format-1');
  const way = `to go back, run the older version with \`--state-root ${old}\`.`;
  return `${join(place.stateRoot, 'workspaces/shop')}: migrated 12 conversations to format 2. The old files are kept in ${old} for 7 days; ${way}`;
};

describe('a state root of format 1', () => {
  test('is migrated by the first command that reads it; gdn store compact removes the old files', async () => {
    expect(await gdn('store compact --json')).toEqual({ stdout: '{\n  "bytes": 0\n}\n', stderr: '', exitCode: 0 });
    expect(existsSync(kept())).toBe(false);

    const listed = await place.runProcess('instance', 'list', '--json', '--bundle', 'bundle');
    expect({ ...listed, stdout: '' }).toEqual({ stdout: '', stderr: `${migration()}\n`, exitCode: 0 });
    expect((await gdn('logs')).stdout).toContain(migration());
    const found = new Map<string, object>(
      JSON.parse(listed.stdout).map((each: { instanceKey: string }) => [each.instanceKey, each]),
    );
    const keys = Object.keys(fixture.expected).filter((key) => !waiting.includes(key));
    expect([...found.keys()].toSorted()).toEqual(keys.toSorted());
    expect(found.get('random-1')).toMatchObject({ agent: 'coder', status: 'asleep', messages: 11 });
    const history = await gdn('history coder random-1 --json');
    expect(JSON.parse(history.stdout).turns).toHaveLength(4);
    expect(existsSync(kept())).toBe(true);

    const owner = { epoch: 1, owner: { ...systemProcesses.self(), holder: 'older' } };
    writeFileSync(join(kept(), 'orchestrator.json'), JSON.stringify(owner));
    const refused = await gdn('store compact');
    expect(refused).toMatchObject({ stdout: '', exitCode: 1 });
    expect(refused.stderr).toStartWith('E_LOCKED: An older version runs on ');
    rmSync(join(kept(), 'orchestrator.json'));

    const removed = await gdn('store compact');
    expect(removed).toMatchObject({ stderr: '', exitCode: 0 });
    expect(removed.stdout).toMatch(/^Removed the files of an older version: [1-9]\d{4,} bytes are free\.\n$/);
    expect(existsSync(join(place.stateRoot, 'format-1'))).toBe(false);
    expect((await gdn('store compact')).stdout).toBe('There is nothing to remove.\n');
    expect((await gdn('history coder random-1 --json')).stdout).toBe(history.stdout);
  });

  test.each([...sampledCases(['backup copy', 'status', 'fork coder random-1 --as other'], 3, 1)])(
    'is migrated by gdn %s, which says so',
    async (typed) => {
      const done = await place.runProcess(...typed.split(' '), '--bundle', 'bundle');
      expect(done.exitCode).toBe(0);
      expect(done.stderr.split('\n').filter((line) => line.includes('migrated'))).toEqual([migration()]);
      expect((await place.runProcess('status', '--bundle', 'bundle')).stderr).toBe('');
    },
  );

  test.each([
    ...sampledCases(
      ['ls', 'status', 'instance list', 'store compact', 'backup copy', 'restore copy', 'run bundle --trust --detach'],
      4,
    ),
  ])('the kept files are not migrated by gdn %s, which names the state root above', async (typed) => {
    expect((await gdn('instance list')).exitCode).toBe(0);
    if (typed === 'restore copy') expect((await gdn('backup copy')).exitCode).toBe(0);
    const before = filesIn(kept());
    const root = join(place.stateRoot, 'format-1');
    const options = typed === 'ls' || typed.startsWith('run') ? [] : ['--bundle', 'bundle'];
    const refused = await place.run(...typed.split(' '), '--state-root', root, ...options);
    expect(refused.stderr).toStartWith(`E_STORE_FORMAT: ${root} is the copy that a migration has kept`);
    expect(refused.stderr).toContain(`Use the state root ${place.stateRoot}. Only the older version uses the copy.`);
    expect(refused).toMatchObject({ stdout: '', exitCode: 1 });
    expect(filesIn(kept()).filter((path) => !path.startsWith('logs'))).toEqual(before);
    expect((await gdn('store compact')).exitCode).toBe(0);
  });

  testInProof('the kept files are an ordinary old state root after they were moved', async () => {
    expect((await gdn('instance list')).exitCode).toBe(0);
    renameSync(join(place.stateRoot, 'format-1'), join(place.folder, 'moved'));
    const moved = await place.runProcess(
      'instance',
      'list',
      '--bundle',
      'bundle',
      '--state-root',
      join(place.folder, 'moved'),
    );
    expect(moved.exitCode).toBe(0);
    expect(moved.stderr).toContain('migrated 12 conversations to format 2');
  });

  testInProof('is migrated by gdn run --detach, which says so on standard error and in the log', async () => {
    const started = await place.runProcess('run', 'bundle', '--trust', '--detach');
    expect((await gdn('stop')).exitCode).toBe(0);
    expect(started.exitCode).toBe(0);
    expect(started.stderr).toStartWith(`${migration()}\n`);
    expect((await gdn('logs')).stdout).toContain(migration());
  });

  test('is migrated by gdn run, which says so in the log; the running swarm can be compacted', async () => {
    await place.serve('bundle');
    const { stdout } = await gdn('logs');
    expect(stdout).toContain(migration());
    expect(existsSync(kept())).toBe(true);
    const another = join(kept(), '../another/file');
    mkdirSync(dirname(another));
    writeFileSync(another, 'of another swarm');
    expect(JSON.parse((await gdn('store compact --json')).stdout)).toEqual({ bytes: expect.any(Number) });
    expect(existsSync(kept())).toBe(false);
    expect(existsSync(another)).toBe(true);
    expect(JSON.parse((await gdn('history coder random-1 --json')).stdout).turns).toHaveLength(4);
    expect((await gdn('stop')).exitCode).toBe(0);
  });

  test.each([...sampledCases(['stopped', 'running'], 2, 1)])(
    'gdn instance delete removes the kept files of the conversation, %s',
    async (state) => {
      const old = (key: string) => join(kept(), 'instances', `coder~${key}`);
      if (state === 'running') await place.serve('bundle');
      else expect((await gdn('instance list')).exitCode).toBe(0);
      const others = readdirSync(join(kept(), 'instances')).filter((name) => name !== 'coder~random-1');
      expect(existsSync(old('random-1'))).toBe(true);
      expect(await gdn('instance delete coder random-1 --yes')).toMatchObject({ stderr: '', exitCode: 0 });
      expect(readdirSync(join(kept(), 'instances')).toSorted()).toEqual(others.toSorted());

      const owner = { epoch: 1, owner: { ...systemProcesses.self(), holder: 'older' } };
      writeFileSync(join(kept(), 'orchestrator.json'), JSON.stringify(owner));
      const used = await place.runProcess(
        'instance',
        'delete',
        'coder',
        'random-2',
        '--yes',
        '--force',
        '--bundle',
        'bundle',
      );
      expect(used.exitCode).toBe(0);
      expect(used.stderr).toBe(
        `${old('random-2')}: still has the old files of a deleted conversation, because an older version of Goondan runs on them; ` +
          'stop that swarm, then remove this folder\n',
      );
      expect(existsSync(old('random-2'))).toBe(true);
      if (state === 'running') expect((await gdn('stop')).exitCode).toBe(0);
    },
  );

  testInProof('gdn instance delete --force removes the kept copy of input without a conversation', async () => {
    writeOldRoot(place.stateRoot);
    expect((await gdn('instance list')).exitCode).toBe(0);
    const old = join(kept(), 'instances/coder~only-input');
    expect(existsSync(old)).toBe(true);
    expect((await gdn('instance delete coder only-input --yes --force')).exitCode).toBe(0);
    expect(existsSync(old)).toBe(false);
  });

  test.each([
    ...sampledCases(
      [
        'instance list',
        'instance show coder random-1',
        'instance export coder random-1',
        'instance delete coder random-1 --yes',
        'history coder random-1',
        'fork coder random-1 --as other',
        'status',
        'deadletter list',
        'backup copy',
      ],
      4,
    ),
  ])('gdn %s says that an older version runs the swarm', async (typed) => {
    ownOldRoot();
    writeFileSync(controlSocketPath(workspace(), 'shop', systemSocketEnvironment()), '');
    const refused = await gdn(typed);
    expect(refused).toEqual({
      stdout: '',
      stderr: expect.stringMatching(
        /^E_STORE_FORMAT: An older version of Goondan runs swarm "shop"\.\n.*Stop that swarm, then type the command again\.\n$/,
      ),
      exitCode: 1,
    });
    expect(existsSync(kept())).toBe(false);
  });

  testInProof('a command waits while another process migrates the conversations', async () => {
    const owner = ownOldRoot();
    const listing = gdn('instance list --json');
    await Bun.sleep(300);
    expect(existsSync(kept())).toBe(false);
    rmSync(owner);
    const { stdout, exitCode } = await listing;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toHaveLength(12);
  });

  testInProof(
    'a damaged conversation is listed with its problem, with one warning; its backup names the damaged file',
    async () => {
      const file = 'instances/coder~random-1/messages/base.jsonl';
      const damaged = readFileSync(join(workspace(), file), 'utf8');
      writeFileSync(join(workspace(), file), damaged.replace('a', 'b'));
      const problemIn = (root: string) => {
        const path = join(root, 'workspaces/shop', file);
        return `${join(root, 'workspaces/shop/instances/coder~random-1')} stays in format 1: ${path} is damaged: it does not match`;
      };
      const listed = await place.runProcess('instance', 'list', '--bundle', 'bundle');
      expect(listed.exitCode).toBe(0);
      expect(listed.stdout).toContain(`coder random-1: does not start, E_STORE_FORMAT: ${problemIn(place.stateRoot)}`);
      const [warning, migrated, ...more] = listed.stderr.split('\n');
      expect(warning).toContain('instances/coder~random-1: stays in format 1, because it is damaged: ');
      expect(migrated).toContain('migrated 11 conversations to format 2');
      expect(more).toEqual(['']);
      expect((await place.runProcess('instance', 'list', '--bundle', 'bundle')).stderr).toBe('');

      const backup = await gdn('backup copy');
      expect(backup.exitCode).toBe(1);
      expect(backup.stderr).toStartWith(`warn: ${problemIn(place.stateRoot)}`);
      expect(backup.stderr).toContain('Restore the damaged file from a backup, then start the swarm again');
      expect((await gdn('restore copy --state-root elsewhere')).exitCode).toBe(0);
      rmSync(place.stateRoot, { recursive: true });
      const elsewhere = await gdn('instance list --state-root elsewhere');
      expect(elsewhere.stdout).toContain(
        `does not start, E_STORE_FORMAT: ${problemIn(join(place.folder, 'elsewhere'))}`,
      );
      expect(elsewhere.stdout).not.toContain(place.stateRoot);

      await place.serveWith({ env: { GOONDAN_STATE_ROOT: join(place.folder, 'elsewhere') } }, 'bundle');
      const running = await gdn('instance list --state-root elsewhere');
      expect(running.stdout).toContain('coder random-1: does not start, E_STORE_FORMAT');
      expect(running.stdout).toContain('coder random-2: asleep');
      expect((await gdn('stop --state-root elsewhere')).exitCode).toBe(0);
    },
  );

  test.each([
    ...sampledCases(['backup copy', 'fork coder random-1 --as other', 'instance delete coder random-1 --yes'], 3),
  ])('gdn %s --no-flock migrates without the lock of the file system', async (typed) => {
    const lock = openSync(join(workspace(), 'workspace.lock'), 'w');
    try {
      expect(await systemFlock(lock)).toEqual({ answer: 'locked' });
      expect((await gdn(`${typed} --no-flock`)).exitCode).toBe(0);
      expect(existsSync(kept())).toBe(true);
    } finally {
      closeSync(lock);
    }
  });

  testInProof('Ctrl-C ends a backup that waits for the migration of another process', async () => {
    ownOldRoot();
    const child = place.start('backup', 'copy', '--bundle', 'bundle');
    // The command has the lock of the file system each time it tries to migrate.
    while (!existsSync(join(workspace(), 'workspace.lock'))) await Bun.sleep(1);
    child.kill('SIGINT');
    expect(await new Response(child.stderr).text()).toStartWith(
      'E_CANCELLED: The backup was interrupted. Nothing is left of it.',
    );
    expect(await child.exited).toBe(130);
    expect(existsSync(join(place.folder, 'copy'))).toBe(false);
  });

  test('a backup that is killed before its first file does not tell anybody to delete the folder', async () => {
    const owner = ownOldRoot();
    mkdirSync(join(place.folder, 'mine/file'), { recursive: true });
    const child = place.start('backup', 'mine', '--bundle', 'bundle');
    while (!existsSync(join(workspace(), 'workspace.lock'))) await Bun.sleep(1);
    for (const name of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) child.kill(name);
    expect(await new Response(child.stderr).text()).toBe('The backup was interrupted.\n');
    expect(await child.exited).toBe(130);
    expect(existsSync(owner)).toBe(true);
  });

  testInProof('files of a migration that is not finished are not removed', async () => {
    mkdirSync(kept(), { recursive: true });
    writeFileSync(join(kept(), 'file'), 'old');
    expect((await gdn('store compact')).stdout).toBe('There is nothing to remove.\n');
    expect(existsSync(join(kept(), 'file'))).toBe(true);
  });
});
