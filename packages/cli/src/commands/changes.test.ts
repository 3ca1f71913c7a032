import { beforeEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm } from '@goondan/runtime';
import { type Changesets, openChangesets, openSwarmList } from '@goondan/runtime/internal';
import { undoChangeset } from '../changes/undo-changeset.ts';
import { commitChangeset, writeChangeset } from '../testing/commit-changeset.ts';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { sampledCases } from '../../../../test/samples.ts';

const place = openPlace();
let bundleFolder: string;
beforeEach(async () => {
  bundleFolder = await place.write('swarm', {
    'goondan.yaml': sampleBundle({ agent: 'prompt: { systemRef: ./host.md }' }),
    'host.md': 'old prompt\n',
    'skills/greet/SKILL.md': 'old skill\n',
  });
});

const changes = (...args: string[]) => place.run('changes', ...args, '--bundle', 'swarm');
const read = (path: string) => Bun.file(join(bundleFolder, path)).text();
const commit = (files: Readonly<Record<string, string | null>>, whileApplied?: () => Promise<void>) =>
  commitChangeset({ stateRoot: place.stateRoot, bundleFolder }, files, whileApplied);

test('gdn changes list says that there are none, also without a state root', async () => {
  expect(await changes('list')).toEqual({ exitCode: 0, stdout: 'There are no changesets.\n', stderr: '' });
  expect((await changes('list', '--json')).stdout.trim()).toBe('[]');
  expect(existsSync(place.stateRoot)).toBe(false);
  for (const command of ['list', 'show 1f3a9c2b'])
    expect(await changes(...command.split(' '), '--swarm', 'other')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('E_SWARM_UNKNOWN: '),
    });
});

test('gdn changes lists and shows a changeset, by the beginning of its id, although goondan.yaml is broken', async () => {
  const { id, commit: made } = await commit({
    'host.md': 'new prompt\n',
    'skills/greet/SKILL.md': null,
    'tools/greet.ts': 'export {};\n',
  });
  const { id: openId } = await writeChangeset(openChangesets({ stateRoot: place.stateRoot, bundleFolder }), {});
  await place.write('swarm', { 'goondan.yaml': 'kind: [' });

  const { stdout, exitCode, stderr } = await changes('list');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const time = made?.at.replace(/\.\d+Z$/, 'Z');
  expect(stdout).toContain(
    `${id}  committed ${time}  host (default), approved by alice via chat\n    changed host.md, deleted skills/greet/SKILL.md, added tools/greet.ts\n`,
  );
  expect(stdout).toContain(`${openId}  open `);
  expect(stdout).toEndWith(
    'Take a committed one back with `gdn changes undo ID --bundle swarm`. Delete an open one with `gdn changes discard ID --bundle swarm`.\n',
  );
  expect(JSON.parse((await changes('list', '--json')).stdout)).toContainEqual({
    id,
    state: 'committed',
    swarm: 'default',
    agent: 'host',
    instanceKey: 'default',
    openedAt: expect.any(String),
    committedAt: made?.at,
    approvedBy: 'alice',
    approvedVia: 'chat',
    baseRef: 'aaa',
    newRef: 'bbb',
    files: [
      { path: 'host.md', change: 'changed' },
      { path: 'skills/greet/SKILL.md', change: 'deleted' },
      { path: 'tools/greet.ts', change: 'added' },
    ],
    notes: [],
  });

  const shown = await changes('show', id.slice(0, 6));
  expect(shown.stdout).toStartWith(`${id}  committed\nswarm default, agent host (default)\n`);
  expect(shown.stdout).toContain(`committed ${time}, approved by alice via chat\nfrom aaa to bbb\n`);
  expect(shown.stdout).toContain('--- a/host.md\n+++ b/host.md\n@@ -1,1 +1,1 @@\n-old prompt\n+new prompt\n');
  expect(shown.stdout).toEndWith('--- /dev/null\n+++ b/tools/greet.ts\n@@ -0,0 +1,1 @@\n+export {};\n');
  expect(JSON.parse((await changes('show', id, '--json')).stdout)).toMatchObject({
    id,
    files: [{ path: 'host.md', diff: expect.stringContaining('+new prompt') }, {}, { path: 'tools/greet.ts' }],
  });
  expect((await changes('list', '--swarm', 'other')).stderr).toContain('E_BUNDLE_INVALID');
  expect(JSON.parse((await changes('list', '--swarm', 'Swarm/default', '--json')).stdout)).toHaveLength(2);
  expect(await changes('undo', id, '--yes', '--swarm', 'other')).toMatchObject({ exitCode: 4 });

  for (const command of ['show', 'undo'])
    expect(await changes(command, 'nothing')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('E_CHANGESET_UNKNOWN: There is no changeset "nothing".'),
    });
  // Nobody is asked to confirm an undo that is not possible.
  expect(await changes('undo', openId)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is not committed, so there is nothing to undo'),
  });
});

describe('gdn changes undo', () => {
  test('restores the files of a swarm that does not run, and needs --yes without a terminal', async () => {
    const { id } = await commit({ 'host.md': 'new prompt\n', 'tools/greet.ts': 'export {};\n' });
    expect(await changes('undo', id)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(`Type \`gdn changes undo ${id} --yes --bundle swarm\`.`),
    });
    expect(await read('host.md')).toBe('new prompt\n');
    expect(await changes('undo', id, '--yes')).toEqual({
      exitCode: 0,
      stdout: 'Undone. Its 2 files are as before.\n',
      stderr: expect.stringContaining('-old prompt\n+new prompt\n'),
    });
    expect(await read('host.md')).toBe('old prompt\n');
    expect(existsSync(join(bundleFolder, 'tools/greet.ts'))).toBe(false);
    const { stdout } = await changes('list');
    expect(stdout).toMatch(new RegExp(`^${id}  undone .*approved by alice via chat, undone by `));
    expect(stdout).toEndWith('See the diff of one with `gdn changes show ID --bundle swarm`.\n');
    expect((await changes('show', id)).stdout).toMatch(
      /\ncommitted .*, approved by alice via chat\nundone .* by .+\nfrom /,
    );
    expect((await changes('undo', id, '--yes')).stderr).toContain(`E_CHANGESET_STATE: Changeset ${id} is undone`);
  });

  test('shows the diff and asks at a terminal', async () => {
    const { id } = await commit({ 'host.md': 'new prompt\n' });
    const asked = (keys: string) =>
      place.runOnTerminal(['changes', 'undo', id, '--bundle', 'swarm'], [{ whenSeen: '[y/N]', keys }]);
    const no = await asked('n\r');
    expect(no.screen).toContain('-old prompt\n+new prompt\nTake this change back? [y/N]');
    expect([no.exitCode, await read('host.md')]).toEqual([130, 'new prompt\n']);
    const yes = await asked('y\r');
    expect([yes.exitCode, await read('host.md')]).toEqual([0, 'old prompt\n']);
    expect(yes.screen).toContain('Undone. Its file is as before.');
  });

  test('changes nothing if a file was edited since', async () => {
    const { id } = await commit({ 'host.md': 'new prompt\n', 'skills/greet/SKILL.md': 'new skill\n' });
    await place.write('swarm', { 'host.md': 'by hand\n' });
    expect(await changes('undo', id, '--yes')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('E_CHANGESET_CONFLICT: host.md was edited'),
    });
    expect([await read('host.md'), await read('skills/greet/SKILL.md')]).toEqual(['by hand\n', 'new skill\n']);
  });

  test('cannot be used by an agent', async () => {
    const { id } = await commit({ 'host.md': 'new prompt\n' });
    const env = { GOONDAN_RUN: 'run-1' };
    expect(await place.runProcessWith({ env }, 'changes', 'undo', id, '--yes', '--bundle', 'swarm')).toMatchObject({
      stderr: expect.stringContaining('E_APPROVAL_BELOW_AGENT'),
    });
    expect(await read('host.md')).toBe('new prompt\n');
  });

  test('reloads a running swarm; if the swarm refuses, the files and the swarm stay as they are', async () => {
    await place.serve('swarm');
    const { id } = await commit({ 'host.md': 'new prompt\n' });
    await place.run('reload', '--bundle', 'swarm');
    const valid = await read('goondan.yaml');
    await place.write('swarm', { 'goondan.yaml': valid.replace('policy: {', 'polices: {') });
    const refused = await changes('undo', id, '--yes');
    expect(refused).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('E_BUNDLE_INVALID') });
    expect(await read('host.md')).toBe('new prompt\n');
    expect((await changes('list')).stdout).toMatch(
      new RegExp(`^${id}  committed .*\n.*\n {4}note: The undo was taken`),
    );

    await place.write('swarm', { 'goondan.yaml': valid });
    // An undo that fails after the reload: the swarm gets the plan of the files back.
    const store = openChangesets({ stateRoot: place.stateRoot, bundleFolder });
    const undo: Changesets['undo'] = async (_id, _by, whileUndone) => {
      await place.write('swarm', { 'host.md': 'old prompt\n' });
      await whileUndone();
      await place.write('swarm', { 'host.md': 'new prompt\n' });
      throw new Error('full');
    };
    // The cast is safe: the undo uses only these two members.
    const failing = { bundleFolder: store.bundleFolder, undo } as Changesets;
    const terminal = { printError: () => undefined, showsProgress: false };
    const failed = undoChangeset(failing, { id, by: 'ann', stateRoot: place.stateRoot }, terminal);
    // Not with `rejects`, for which Bun stops this process, and so the swarm in it.
    expect(await failed.then(() => 'done', String)).toContain('full');
    expect((await place.run('reload', '--bundle', 'swarm')).stdout).toBe('Nothing has changed.\n');

    const undone = await changes('undo', id, '--yes', '--json');
    expect(JSON.parse(undone.stdout)).toEqual({
      undone: true,
      id,
      files: ['host.md'],
      reloads: [{ swarm: 'default', result: expect.objectContaining({ changed: ['Agent/host'] }) }],
    });
    expect(await read('host.md')).toBe('old prompt\n');
    expect((await place.run('logs', '--bundle', 'swarm')).stdout).toContain(
      `has undone changeset ${id} of agent "host"`,
    );
    expect((await place.run('status', '--bundle', 'swarm')).stdout).toContain(`changeset ${id} of host undone by `);
    expect((await place.run('reload', '--bundle', 'swarm')).stdout).toBe('Nothing has changed.\n');
    await place.run('stop', '--bundle', 'swarm');
  });
});

describe('gdn changes discard', () => {
  test('deletes an open changeset, and needs --yes without a terminal', async () => {
    const store = openChangesets({ stateRoot: place.stateRoot, bundleFolder });
    const { id } = await writeChangeset(store, { 'host.md': 'new prompt\n' });
    await store.note(id, `Denied by ann: ${'because '.repeat(100)}`);
    await store.note(id, 'Denied by bob.');
    const { stdout } = await changes('list');
    expect(stdout).toContain('\n    note: Denied by bob. (and 1 earlier)\nSee');
    expect((await changes('show', id)).stdout).toMatch(/\nnote: Denied by ann: .*because \nnote: Denied by bob\.\n/);
    await place.write('swarm', { 'host.md': 'by hand\n' });
    expect((await changes('show', id)).stdout).toContain('host.md was edited by hand since the changeset read it.');
    expect(await changes('discard', id)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Type \`gdn changes discard ${id} --yes --bundle swarm\`.`),
    });
    expect(await changes('discard', id.slice(0, 6), '--yes')).toMatchObject({
      exitCode: 0,
      stdout: 'Deleted. The bundle is as before.\n',
      stderr: expect.stringContaining('+new prompt\n'),
    });
    expect(await store.list()).toEqual([]);
    expect(await read('host.md')).toBe('by hand\n');
  });

  test('leaves a committed changeset alone, and cannot be used by an agent', async () => {
    const { id } = await commit({ 'host.md': 'new prompt\n' });
    expect((await changes('discard', id, '--yes')).stderr).toContain(`E_CHANGESET_STATE: Changeset ${id} is committed`);
    const env = { GOONDAN_RUN: 'run-1' };
    expect(await place.runProcessWith({ env }, 'changes', 'discard', id, '--yes', '--bundle', 'swarm')).toMatchObject({
      stderr: expect.stringContaining('E_APPROVAL_BELOW_AGENT'),
    });
    expect((await changes('list')).stdout).toContain(`${id}  committed `);
  });
});

describe('a commit of another process that was killed', () => {
  const files = { 'host.md': 'new prompt\n', 'skills/greet/SKILL.md': 'new skill\n' };
  const now = async () => [await read('host.md'), await read('skills/greet/SKILL.md')];

  async function kill(): Promise<void> {
    const script = join(import.meta.dir, '../testing/killed-commit.ts');
    const args = [script, place.stateRoot, bundleFolder, JSON.stringify(files), 'half'];
    const child = Bun.spawn([process.execPath, ...args], { stdout: 'ignore', stderr: 'inherit' });
    await child.exited;
    expect(child.signalCode).toBe('SIGKILL');
    expect(await now()).toEqual(['new prompt\n', 'old skill\n']);
  }

  test.each([...sampledCases(['validate', 'status', 'changes list'], 3)])(
    'is finished before gdn %s does anything, and said in one line',
    async (typed) => {
      const command = typed.split(' ');
      await kill();
      const { exitCode, stderr } = await place.run(...command, '--bundle', 'swarm');
      expect(exitCode).toBe(0);
      expect(stderr).toMatch(/^Finished an interrupted change: changeset \w+ of agent host is committed, .*\n$/);
      expect(await now()).toEqual(Object.values(files));
      expect((await place.run(...command, '--bundle', 'swarm')).stderr).toBe('');
      expect((await changes('list')).stdout).toMatch(/^\w+ {2}committed /);
    },
  );

  test('is finished before a running swarm reloads by itself', async () => {
    await place.serve('swarm');
    await kill();
    const [known] = await openSwarmList(place).ofFolder(bundleFolder);
    const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId: known?.workspaceId ?? '' });
    await swarm.reload();
    expect(await now()).toEqual(Object.values(files));
    await place.run('stop', '--bundle', 'swarm');
  });

  test('is taken back if a file was edited meanwhile, which is left alone and said', async () => {
    await kill();
    await place.write('swarm', { 'skills/greet/SKILL.md': 'by hand\n' });
    const { stderr } = await place.run('validate', 'swarm');
    expect(stderr).toMatch(
      /^Took back an interrupted change: changeset \w+ .*edited them: skills\/greet\/SKILL\.md\.\n$/,
    );
    expect(await now()).toEqual(['old prompt\n', 'by hand\n']);
    expect((await changes('list')).stdout).toMatch(/^\w+ {2}open .*\n.*\n {4}note: /);
  });
});

test('a command that reads the bundle waits for a commit that is under way; other commands do not wait', async () => {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const committed = commit({ 'host.md': 'new prompt\n' }, () => {
    begun.resolve();
    return over.promise;
  });
  await begun.promise;
  const order: string[] = [];
  const validated = place.run('validate', 'swarm').then(({ stderr }) => void order.push(`validate ${stderr}`));
  // A command that does not wait would be over by then.
  for (const _ of [1, 2, 3, 4]) {
    expect(await place.run('status', '--bundle', 'swarm')).toMatchObject({ exitCode: 0, stderr: '' });
  }
  order.push('status');
  over.resolve();
  await Promise.all([validated, committed]);
  expect(order).toEqual(['status', 'validate ']);
});
