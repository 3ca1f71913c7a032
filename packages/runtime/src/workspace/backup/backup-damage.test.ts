// Backups on the real disk: damage, names that lead elsewhere, links, permissions, folders that cannot be used.
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type BundleFs, systemBundleFs } from '../../ports/bundle-fs.ts';
import { codedBundleFs } from '../../ports/coded-fs.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { durableStore } from '../journal/durable-store.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { backUpWorkspace } from './back-up-workspace.ts';
import { decodeManifest, encodeManifest, LONGEST_MANIFEST } from './manifest.ts';
import { readManifest, restoreWorkspace } from './restore-workspace.ts';
import { instances, runTurn } from '../simulation/busy-workspace.ts';

/** The disk without syncs, which take most of the time. `backup-crashes.test.ts` checks them. */
const fs: BundleFs = {
  ...codedBundleFs(systemBundleFs),
  syncFolder: async () => undefined,
  openFile: async (path) => ({ ...(await systemBundleFs.openFile(path)), sync: async () => undefined }),
};
const root = temporaryFolder();
const stateRoot = join(root, 'state');
const workspace = join(stateRoot, 'workspaces/w');
const made = join(root, 'made');
const scratch = 'instances/coder~one/scratch';
let backup: string;

beforeAll(async () => {
  const journal = await durableStore({ stateRoot, workspaceId: 'w' });
  for (const instance of instances) {
    for (const number of [1, 2]) {
      const id = `${instance.instanceKey}-${number}`;
      await journal.accept(instance, simpleEvent(id));
      await runTurn(journal, instance, id, { notes: id });
    }
  }
  await journal.close();
  mkdirSync(join(workspace, scratch), { recursive: true });
  writeFileSync(join(workspace, scratch, 'run.sh'), 'true', { mode: 0o755 });
  symlinkSync('/etc/hostname', join(workspace, scratch, 'link'));
  for (const name of ['workspace.lock', 'orchestrator.json', 'swarm.json', 'instances.jsonl', 'approvals.jsonl.next'])
    writeFileSync(join(workspace, name), 'not copied');
  const lock = { epoch: 7, owner: { pid: 1, startedAt: 'today', holder: 'an agent' } };
  writeFileSync(join(workspace, 'instances/coder~one/lock'), JSON.stringify(lock));
  for (const name of ['.deleted-1', '.draft-1']) mkdirSync(join(workspace, 'instances', name));
  mkdirSync(join(workspace, 'run'));
  mkdirSync(join(workspace, 'logs'));
  writeFileSync(join(workspace, 'logs/swarm.jsonl'), 'line\n', { mode: 0o644 });
  await backUp(made);
});

/** Each test has a copy of the backup. */
beforeEach(() => {
  backup = join(mkdtempSync(join(root, 'test-')), 'backup');
  cpSync(made, backup, { recursive: true });
});

function backUp(folder: string, signal?: AbortSignal) {
  const source = { fs, clock: systemClock, processes: systemProcesses, workspace, pause: async () => undefined };
  return backUpWorkspace(source, { folder, version: '1', swarm: 'default', ...(signal && { signal }) });
}

async function restore(target = join(backup, '../restored')): Promise<string> {
  const manifest = await readManifest(fs, backup);
  await restoreWorkspace(fs, manifest, { folder: backup, stateRoot: target, workspaceId: 'x' });
  return join(target, 'workspaces/x');
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((each) => statSync(join(folder, each)).isFile());

describe('a backup', () => {
  test('has the files of the workspace, readable only by their owner, without locks and drafts', async () => {
    const files = filesIn(backup);
    const top = readdirSync(join(backup, 'workspace')).toSorted();
    expect(top.filter((name) => name !== 'inbox')).toEqual(['instances', 'logs']);
    expect(readdirSync(join(backup, 'workspace/instances')).toSorted()).toEqual(
      instances.map(({ instanceKey }) => `coder~${instanceKey}`).toSorted(),
    );
    const modes = files.map((each) => [each, (statSync(join(made, each)).mode & 0o777).toString(8)] as const);
    const script = `workspace/${scratch}/run.sh`;
    expect(modes.filter(([path, mode]) => mode !== (path === script ? '700' : '600'))).toEqual([]);
    expect((statSync(join(made, 'workspace')).mode & 0o777).toString(8)).toBe('700');
    const lock = readFileSync(join(backup, 'workspace/instances/coder~one/lock'), 'utf8');
    expect(JSON.parse(lock)).toEqual({ epoch: 7, owner: null });
  });

  test('does not follow links, and reports them', async () => {
    const { skipped, problems } = await backUp(join(backup, '../again'));
    expect({ skipped, problems }).toEqual({ skipped: [`${scratch}/link`], problems: [] });
    expect(existsSync(join(backup, 'workspace', scratch, 'link'))).toBe(false);
  });

  test('is refused in a folder that has something else', async () => {
    const code = 'E_BACKUP_FOLDER';
    expect(await rejectionOf(backUp(backup))).toMatchObject({ code, message: `${backup} has a backup already.` });
    rmSync(join(backup, 'backup.jsonl'));
    expect(await rejectionOf(backUp(backup))).toMatchObject({ code, message: `${backup} is not empty.` });
    writeFileSync(join(backup, 'incomplete'), '');
    expect(await rejectionOf(backUp(backup))).toMatchObject({ code, message: `${backup} has an incomplete backup.` });
    const file = join(backup, 'incomplete');
    expect(await rejectionOf(backUp(file))).toMatchObject({ code, message: `${file} is not a folder.` });
  });

  test('leaves nothing behind when it is interrupted, also in the folder that it did not make', async () => {
    const controller = new AbortController();
    controller.abort(new Error('interrupted'));
    const [fresh, empty] = [join(backup, '../fresh/deep'), join(backup, '../empty')];
    mkdirSync(empty);
    for (const folder of [fresh, empty]) {
      expect(await rejectionOf(backUp(folder, controller.signal))).toMatchObject({ message: 'interrupted' });
    }
    expect(existsSync(fresh)).toBe(false);
    expect(readdirSync(empty)).toEqual([]);
    await backUp(empty);
    expect(readdirSync(empty).toSorted()).toEqual(['backup.jsonl', 'workspace']);
  });

  test('has files whose names have a backslash or a line break, and they can be restored', async () => {
    const names = ['a\\b.txt', '..\\..\\c', 'line\nbreak'];
    for (const name of names) writeFileSync(join(workspace, scratch, name), name);
    try {
      const folder = mkdtempSync(join(root, 'names-'));
      expect((await backUp(folder)).problems).toEqual([]);
      const target = mkdtempSync(join(root, 'restored-'));
      await restoreWorkspace(fs, await readManifest(fs, folder), { folder, stateRoot: target, workspaceId: 'x' });
      for (const name of names) expect(readFileSync(join(target, 'workspaces/x', scratch, name), 'utf8')).toBe(name);
    } finally {
      for (const name of names) rmSync(join(workspace, scratch, name));
    }
  });

  test('reports a name that is not UTF-8, and a path that is too long for the backup', async () => {
    const bytes = Buffer.concat([Buffer.from(join(workspace, scratch, 'bad')), Buffer.from([0xff])]);
    writeFileSync(bytes, 'x');
    const deep = join(workspace, scratch, 'deep');
    let path = deep;
    while (path.length < 3800) path = join(path, 'd'.repeat(200));
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'file'), 'x');
    try {
      const folder = join(mkdtempSync(join(root, 'long-')), 'l'.repeat(250), 'l'.repeat(200));
      const { problems } = await backUp(folder);
      expect(problems.toSorted()).toEqual([
        expect.stringMatching(/scratch\/bad\uFFFD is not in the backup: its name is not UTF-8$/),
        expect.stringMatching(/d is not in the backup: its path is too long or has an unusable name$/),
      ]);
      expect((await readManifest(fs, folder)).problems).toEqual(problems);
    } finally {
      rmSync(bytes);
      rmSync(deep, { recursive: true });
    }
  });

  test('has a damaged conversation as it is, and reports it', async () => {
    const log = join(workspace, 'instances/coder~two/messages/events.jsonl');
    const whole = readFileSync(log);
    try {
      for (const damaged of [whole.subarray(0, 200), Buffer.from(whole).fill('x', 150, 151), Buffer.alloc(0)]) {
        writeFileSync(log, damaged);
        const folder = mkdtempSync(join(root, 'damaged-'));
        const { problems, conversations } = await backUp(folder);
        expect(problems).toEqual([expect.stringContaining(`${log} is damaged`)]);
        expect(conversations).toBe(instances.length);
        expect(readFileSync(join(folder, 'workspace/instances/coder~two/messages/events.jsonl'))).toEqual(damaged);
        expect((await readManifest(fs, folder)).problems).toEqual(problems);
      }
      rmSync(log);
      expect((await backUp(mkdtempSync(join(root, 'damaged-')))).problems).toHaveLength(1);
    } finally {
      writeFileSync(log, whole);
    }
    expect(
      readdirSync(join(workspace, 'instances/coder~two/messages')).filter((name) => name.includes('corrupt')),
    ).toEqual([]);
  });
});

describe('a restore', () => {
  test('writes every file of the backup, with its permissions', async () => {
    const target = await restore();
    const files = filesIn(target);
    expect(files.toSorted()).toEqual(filesIn(join(backup, 'workspace')).toSorted());
    for (const file of files) {
      expect(readFileSync(join(target, file))).toEqual(readFileSync(join(backup, 'workspace', file)));
      expect((statSync(join(target, file)).mode & 0o777).toString(8)).toBe(file.endsWith('.sh') ? '700' : '600');
    }
  });

  test('replaces the folder of the workspace, and removes what an interrupted restore has left', async () => {
    const workspaces = join(backup, '../restored/workspaces');
    for (const name of ['x', '.replaced-x', '.restoring-x']) {
      mkdirSync(join(workspaces, name, 'instances'), { recursive: true });
      writeFileSync(join(workspaces, name, 'instances/old'), 'old');
    }
    const target = await restore();
    expect(readdirSync(workspaces)).toEqual(['x']);
    expect(existsSync(join(target, 'instances/old'))).toBe(false);
  });

  test('changes nothing if its caller has lost the workspace meanwhile', async () => {
    const target = join(backup, '../restored');
    mkdirSync(join(target, 'workspaces/x'), { recursive: true });
    writeFileSync(join(target, 'workspaces/x/approvals.jsonl'), 'of another owner');
    const fence = () => {
      throw new Error('lost');
    };
    const options = { folder: backup, stateRoot: target, workspaceId: 'x', fence };
    const lost = restoreWorkspace(fs, await readManifest(fs, backup), options);
    expect(await rejectionOf(lost)).toMatchObject({ message: 'lost' });
    expect(readdirSync(join(target, 'workspaces'))).toEqual(['x']);
    expect(readFileSync(join(target, 'workspaces/x/approvals.jsonl'), 'utf8')).toBe('of another owner');
  });

  test('puts the folder of the workspace back when the last rename fails, and after a crash before it', async () => {
    const target = join(backup, '../restored');
    const workspaces = join(target, 'workspaces');
    mkdirSync(join(workspaces, 'x'), { recursive: true });
    writeFileSync(join(workspaces, 'x/approvals.jsonl'), 'old');
    const options = { folder: backup, stateRoot: target, workspaceId: 'x' };
    const rename: BundleFs['rename'] = async (path, to) => {
      if (path.includes('.restoring-')) throw new Error('no rename');
      await fs.rename(path, to);
    };
    const manifest = await readManifest(fs, backup);
    const failing = restoreWorkspace({ ...fs, rename }, manifest, options);
    expect(await rejectionOf(failing)).toMatchObject({ message: 'no rename' });
    expect(readdirSync(workspaces)).toEqual(['x']);
    expect(readFileSync(join(workspaces, 'x/approvals.jsonl'), 'utf8')).toBe('old');

    // A crash between the two renames, and then a restore from a damaged backup.
    renameSync(join(workspaces, 'x'), join(workspaces, '.replaced-x'));
    rmSync(join(backup, 'workspace/logs/swarm.jsonl'));
    expect(await rejectionOf(restoreWorkspace(fs, manifest, options))).toMatchObject({ code: 'E_BACKUP_DAMAGED' });
    expect(readdirSync(workspaces)).toEqual(['x']);
    expect(readFileSync(join(workspaces, 'x/approvals.jsonl'), 'utf8')).toBe('old');
  });

  const restored = () => join(backup, '../restored/workspaces');
  const damaged = async (path: string) => {
    const error = await rejectionOf(restore());
    expect(error).toMatchObject({ code: 'E_BACKUP_DAMAGED', message: expect.stringContaining(path) });
    if (existsSync(restored())) expect(readdirSync(restored())).toEqual([]);
  };

  test('is refused when a byte of the manifest is changed', () => {
    const whole = readFileSync(join(backup, 'backup.jsonl'));
    for (const [at, byte] of whole.entries()) {
      const changed = Buffer.from(whole);
      changed[at] = byte ^ 1;
      expect(() => decodeManifest('path/of/backup.jsonl', changed)).toThrow(
        // A changed number in the first line may look like a newer format.
        expect.objectContaining({
          code: expect.stringMatching(/^E_BACKUP_(DAMAGED|FORMAT)$/),
          message: expect.stringContaining('path/of/backup.jsonl'),
        }),
      );
    }
  });

  test('is refused when a file is cut, longer, missing or changed', async () => {
    const one = 'workspace/instances/coder~one';
    const log = `${one}/messages/events.jsonl`;
    for (const name of [
      'backup.jsonl',
      'workspace/logs/swarm.jsonl',
      `${one}/metadata.json`,
      filesIn(backup).find((each) => each.includes('inbox')) ?? '',
      log,
    ]) {
      const file = join(backup, name);
      const whole = readFileSync(file);
      for (const at of [0, whole.length >> 1, whole.length - 1]) {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ 1;
        writeFileSync(file, changed);
        await damaged(file);
      }
      truncateSync(file, whole.length - 1);
      await damaged(file);
      writeFileSync(file, Buffer.concat([whole, Buffer.from('x')]));
      await damaged(file);
      rmSync(file);
      if (name !== 'backup.jsonl') await damaged(file);
      writeFileSync(file, whole);
    }
    await restore();
  });

  test('is refused without a manifest, and for a backup of another version', async () => {
    const path = join(backup, 'backup.jsonl');
    const text = readFileSync(path, 'utf8');
    for (const other of [0, 2, null]) {
      writeFileSync(path, text.replace('"formatVersion":1', `"formatVersion":${other}`));
      expect(await rejectionOf(restore())).toMatchObject({
        code: 'E_BACKUP_FORMAT',
        message: expect.stringMatching(/backup\.jsonl is a backup in format .*\. Goondan \S+ made it\.$/),
      });
    }
    rmSync(path);
    expect(await rejectionOf(restore())).toMatchObject({
      code: 'E_BACKUP_FOLDER',
      message: `${backup} is not a complete backup: it has no backup.jsonl.`,
    });
    const nowhere = join(backup, 'nowhere');
    expect(await rejectionOf(readManifest(fs, nowhere))).toMatchObject({
      code: 'E_BACKUP_FOLDER',
      message: `${nowhere} does not exist.`,
    });
  });

  test.each([
    '../escaped',
    'instances/../../escaped',
    'logs/../../escaped',
    'logs/./a',
    '/escaped',
    'logs//a',
    './logs/a',
    '',
    'logs/',
    'logs/a\0b',
    'workspace.lock',
    'orchestrator.json',
    'swarm.json',
    '.hidden',
    'instances/.draft-1/metadata.json',
  ])('is refused when the manifest names %j', (path) => refusesName(path));

  test('is refused when the manifest names a path that is too long', () => refusesName(`logs/${'a'.repeat(5000)}`));

  test('is refused when the manifest names a path twice', async () => {
    const { files, folders } = await readManifest(fs, backup);
    for (const path of [files[0]?.path, folders[0]]) await refusesName(path ?? '');
  });

  test('is refused without a read when the manifest is longer than any that a backup has', async () => {
    const look: BundleFs['look'] = async () => ({ kind: 'file', size: LONGEST_MANIFEST + 1, mode: 0o600 });
    const read: BundleFs['read'] = () => Promise.reject(new Error('was read'));
    expect(await rejectionOf(readManifest({ ...fs, look, read }, backup))).toMatchObject({ code: 'E_BACKUP_DAMAGED' });
  });

  async function refusesName(path: string): Promise<void> {
    const manifest = await readManifest(fs, backup);
    const [file] = manifest.files;
    if (!file) throw new Error('the backup is empty');
    const asFile = encodeManifest({ ...manifest, files: [...manifest.files, { ...file, path }] });
    const asFolder = encodeManifest({ ...manifest, folders: [...manifest.folders, path] });
    for (const bytes of [asFile, asFolder]) {
      expect(() => decodeManifest('backup.jsonl', bytes)).toThrow(
        expect.objectContaining({ code: 'E_BACKUP_DAMAGED' }),
      );
    }
  }

  test('does not follow a link in the backup, to a file or to a folder', async () => {
    const file = join(backup, 'workspace/logs/swarm.jsonl');
    // The path in the link is as long as the file.
    const other = join(backup, 'workspace/logs/other');
    renameSync(file, other);
    symlinkSync('other', file);
    await damaged(file);
    rmSync(file);
    renameSync(other, file);
    renameSync(join(backup, 'workspace/logs'), join(backup, 'folder'));
    symlinkSync(join(backup, 'folder'), join(backup, 'workspace/logs'));
    await damaged(file);
  });

  test.each(['workspace', 'workspace/instances'])(
    'does not follow a link above the folders of files: %s',
    async (name) => {
      renameSync(join(backup, name), join(backup, 'elsewhere'));
      symlinkSync(join(backup, 'elsewhere'), join(backup, name));
      await damaged(`${join(backup, name)}/`);
    },
  );
});
