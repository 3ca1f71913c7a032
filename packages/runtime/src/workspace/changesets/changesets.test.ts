import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { type BundleFs, systemBundleFs } from '../../ports/bundle-fs.ts';
import { changesetPaths } from '../layout/changeset-paths.ts';
import { systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import type { ChangesetsPlace } from './changesets.ts';
import { openChangesets } from './open-changesets.ts';

const owner = { swarm: 'shop', agent: 'coder', instanceKey: 'default' };
const HOUR = 60 * 60 * 1000;

let root: string;
let bundle: string;
let stateRoot: string;
let now: number;
let warnings: string[];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'changesets-')));
  bundle = join(root, 'bundle');
  stateRoot = join(root, 'state');
  now = Date.parse('2026-01-01T00:00:00.000Z');
  warnings = [];
  put('goondan.yaml', 'kind: Swarm\n');
  put('prompts/a.md', 'old\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('an open changeset', () => {
  test('belongs to one conversation, and nobody else finds it', async () => {
    const { changesets, id } = await opened();
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(await changesets.get(id, owner)).toMatchObject({ ...owner, state: 'open', bundleFolder: bundle });
    for (const other of [{ swarm: 'x' }, { agent: 'x' }, { instanceKey: 'x' }]) {
      expect(await code(changesets.get(id, { ...owner, ...other }))).toBe('E_CHANGESET_UNKNOWN');
    }
    for (const unknown of ['', '00000000', '../x', `${id}/..`, 'x'.repeat(9999)]) {
      expect(await changesets.find(unknown)).toBeUndefined();
      expect(await code(changesets.write(unknown, 'a.md', 'x'))).toBe('E_CHANGESET_UNKNOWN');
    }
  });

  test('holds its edits until the commit, also for another process, and leaves the bundle alone', async () => {
    const { id } = await open().open(owner);
    await open().write(id, 'prompts/a.md', 'new\n');
    await open().write(id, 'skills/x/SKILL.md', '# X\n');
    await open().write(id, 'goondan.yaml', null);
    expect(await open().read(id, 'prompts/a.md')).toBe('new\n');
    expect(await open().read(id, 'skills/x/SKILL.md')).toBe('# X\n');
    expect(await open().read(id, 'goondan.yaml')).toBeNull();
    expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm\n', 'prompts/a.md': 'old\n' });
    const { edits, digest } = await open().edits(id);
    expect(edits.map(({ path, content }) => [path, content && new TextDecoder().decode(content)])).toEqual([
      ['goondan.yaml', null],
      ['prompts/a.md', 'new\n'],
      ['skills/x/SKILL.md', '# X\n'],
    ]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await open().compare(id)).toEqual([
      { path: 'goondan.yaml', change: 'deleted', old: 'kind: Swarm\n', new: null },
      { path: 'prompts/a.md', change: 'changed', old: 'old\n', new: 'new\n' },
      { path: 'skills/x/SKILL.md', change: 'added', old: null, new: '# X\n' },
    ]);
  });

  test('is read again if another process changes it meanwhile, and is unknown if that process discards it', async () => {
    const { changesets, id } = await opened();
    await changesets.write(id, 'prompts/a.md', 'first');
    let change: (() => Promise<unknown>) | undefined;
    // The change comes after the record was read, before the content.
    const look: BundleFs['look'] = async (path) => {
      const meeting = path.includes('record') ? undefined : change;
      if (meeting !== undefined) change = undefined;
      await meeting?.();
      return systemBundleFs.look(path);
    };
    const reader = open({ fs: { ...systemBundleFs, look } });
    for (const read of ['compare', 'edits'] as const) {
      change = () => changesets.write(id, 'prompts/a.md', `${read} meanwhile`);
      expect(JSON.stringify(await reader[read](id))).not.toContain('first');
      expect(change).toBeUndefined();
    }
    change = () => changesets.write(id, 'prompts/a.md', 'last');
    expect(await reader.read(id, 'prompts/a.md')).toBe('last');
    change = () => changesets.discard(id);
    expect(await code(reader.compare(id))).toBe('E_CHANGESET_UNKNOWN');
  });

  test('keeps every edit of writes at the same time', async () => {
    const { changesets, id } = await opened();
    await Promise.all(['b', 'c', 'd'].map((name) => changesets.write(id, `prompts/${name}.md`, name)));
    expect((await changesets.edits(id)).edits).toHaveLength(3);
  });

  test('has another digest after every other edit', async () => {
    const { changesets, id } = await opened();
    const digests = new Set<string>();
    for (const content of ['1', '2', null]) {
      await changesets.write(id, 'prompts/a.md', content);
      digests.add((await changesets.edits(id)).digest);
    }
    await changesets.write(id, 'prompts/b.md', '1');
    digests.add((await changesets.edits(id)).digest);
    expect(digests.size).toBe(4);
    // The same new text for another old one is another change.
    put('prompts/a.md', 'other');
    const other = await withEdits({ 'prompts/a.md': '1' });
    expect(digests).not.toContain((await changesets.edits(other)).digest);
  });

  test('drops an edit that changes nothing, and keeps no content that it does not need', async () => {
    const { changesets, id } = await opened();
    await changesets.write(id, 'prompts/a.md', 'one');
    await changesets.write(id, 'prompts/b.md', 'two');
    await changesets.write(id, 'prompts/a.md', 'three');
    expect(readdirSync(paths().contents(id))).toHaveLength(2);
    await changesets.write(id, 'prompts/a.md', 'old\n');
    await changesets.write(id, 'prompts/b.md', null);
    expect((await changesets.edits(id)).edits).toEqual([]);
    expect(readdirSync(paths().contents(id))).toEqual([]);
  });

  test('is based on the text that the agent read, so an edit by hand in between is a conflict', async () => {
    const { changesets, id } = await opened();
    await changesets.read(id, 'prompts/a.md');
    put('prompts/a.md', 'edited by hand');
    await changesets.write(id, 'prompts/a.md', 'new');
    const { edits } = await changesets.edits(id);
    expect(await changesets.conflicts(edits)).toEqual(['prompts/a.md']);
    expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
    expect(files()['prompts/a.md']).toBe('edited by hand');
    expect((await changesets.get(id)).state).toBe('open');
  });

  test.each([
    ['edited', 'prompts/a.md', () => put('prompts/a.md', 'by hand\n'), 'by hand\n'],
    ['deleted', 'prompts/a.md', () => rmSync(join(bundle, 'prompts/a.md')), null],
    ['added', 'prompts/b.md', () => put('prompts/b.md', 'by hand\n'), 'by hand\n'],
  ])(
    'can be corrected after a file was %s by hand: it is read again and written again',
    async (_, path, edit, text) => {
      const changesets = open();
      const id = await withEdits({ [path]: 'mine\n' });
      edit();
      const before = files();
      await changesets.write(id, path, 'unseen\n');
      expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
      expect(await changesets.read(id, path)).toBe(text);
      // Reading alone is no consent: the edit is still the old one.
      expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
      expect(files()).toEqual(before);
      await changesets.write(id, path, `${text ?? ''}mine, too\n`);
      expect(await changesets.read(id, path)).toBe(`${text ?? ''}mine, too\n`);
      put(path, 'by hand again\n');
      expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
      expect(files()[path]).toBe('by hand again\n');
      await changesets.read(id, path);
      await changesets.write(id, path, 'all of us\n');
      expect(readdirSync(paths().contents(id))).toHaveLength(1);
      expect(await commit(id)).toMatchObject({ state: 'committed' });
      expect(files()[path]).toBe('all of us\n');
    },
  );

  test('that gave up its edit after a conflict has no edit of the file', async () => {
    const changesets = open();
    const id = await withEdits({ 'prompts/a.md': 'mine\n' });
    put('prompts/a.md', 'by hand\n');
    await changesets.write(id, 'prompts/a.md', (await changesets.read(id, 'prompts/a.md')) ?? '');
    expect(await changesets.get(id)).toMatchObject({ edits: [], reads: [] });
  });

  test('keeps its last 20 notes, each of a bounded length and none twice in a row, until it is committed', async () => {
    const changesets = open();
    const id = await withEdits({ 'prompts/a.md': 'new' });
    for (let count = 0; count < 21; count += 1) await changesets.note(id, `note ${count}`);
    await changesets.note(id, 'note 20');
    await changesets.note(id, 'x'.repeat(2000));
    const { notes = [] } = await changesets.get(id);
    expect([notes.length, notes[0], notes.at(-2), notes.at(-1)?.length]).toEqual([20, 'note 2', 'note 20', 1000]);
    await commit(id);
    await changesets.note(id, 'late');
    expect((await changesets.get(id)).notes).toEqual(notes);
  });

  test('expires after a day, and a sweep deletes it', async () => {
    const { changesets, id } = await opened();
    now += 23 * HOUR;
    expect(await changesets.list()).toHaveLength(1);
    now += HOUR;
    expect(await changesets.list()).toEqual([]);
    expect(await code(changesets.read(id, 'prompts/a.md'))).toBe('E_CHANGESET_UNKNOWN');
    expect(existsSync(paths().changeset(id))).toBe(true);
    await changesets.sweep();
    expect(existsSync(paths().changeset(id))).toBe(false);
  });

  test('is one of at most 8 in a conversation: the oldest one makes room', async () => {
    const changesets = open();
    const ids = await openMany(9, owner);
    expect((await changesets.list()).map(({ id }) => id)).toEqual(ids.slice(1).toReversed());
    const deleted: string[] = [];
    await changesets.open(owner, ({ id }) => void deleted.push(id));
    expect(deleted).toEqual(ids.slice(1, 2));
  });

  test('is one of at most 32 in a bundle: the oldest one of the same conversation makes room, and no other one', async () => {
    const changesets = open();
    for (const instanceKey of ['k1', 'k2', 'k3']) await openMany(8, { ...owner, instanceKey });
    const [first = ''] = await openMany(7, owner);
    await openMany(1, { ...owner, instanceKey: 'k4' });
    expect(await rejectionOf(changesets.open({ ...owner, agent: 'other' }))).toMatchObject({
      code: 'E_CHANGESET_LIMIT',
      suggestion: expect.stringContaining('`gdn changes discard ID`'),
    });
    expect(await changesets.list()).toHaveLength(32);
    await changesets.open(owner);
    expect(await changesets.list()).toHaveLength(32);
    expect(await changesets.find(first)).toBeUndefined();
    now += 24 * HOUR;
    await changesets.open({ ...owner, agent: 'other' });
  });

  test('can be discarded with its files, unless it is no longer open', async () => {
    const changesets = open();
    const id = await withEdits({ 'prompts/a.md': 'new' });
    expect(await changesets.discard(id)).toMatchObject({ id, state: 'open' });
    expect(existsSync(paths().changeset(id))).toBe(false);
    expect(await code(changesets.discard(id))).toBe('E_CHANGESET_UNKNOWN');
    const committed = await withEdits({ 'prompts/a.md': 'new' });
    await commit(committed);
    expect(await code(changesets.discard(committed))).toBe('E_CHANGESET_STATE');
    expect(await changesets.get(committed)).toMatchObject({ state: 'committed' });
  });

  async function openMany(count: number, who: typeof owner): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      now += 1;
      const { id } = await open().open(who);
      await open().write(id, 'prompts/a.md', String(index));
      ids.push(id);
    }
    return ids;
  }

  test('has at most 100 files of 1 MB each', async () => {
    const { changesets, id } = await opened();
    const most = 'x'.repeat(1024 * 1024);
    await changesets.write(id, 'f0', most);
    expect(await code(changesets.write(id, 'f1', `${most}x`))).toBe('E_CHANGESET_LIMIT');
    expect(await code(changesets.write(id, 'f1', 'é'.repeat(1024 * 1024)))).toBe('E_CHANGESET_LIMIT');
    for (let count = 1; count < 100; count += 1) await changesets.write(id, `f${count}`, 'x');
    expect(await code(changesets.write(id, 'f100', 'unlike the others'))).toBe('E_CHANGESET_LIMIT');
    await changesets.write(id, 'f99', 'y');
    expect((await changesets.edits(id)).edits).toHaveLength(100);
    expect(readdirSync(paths().contents(id))).toHaveLength(3);
    put('large.txt', `${most}x`);
    expect(await code(changesets.read(id, 'large.txt'))).toBe('E_CHANGESET_LIMIT');
    expect(await changesets.files()).not.toContain('large.txt');
  });
});

describe('a path', () => {
  test.each([
    ['leads out', '../outside.md'],
    ['is absolute', '/etc/hosts'],
    ['holds values of the environment', '.env'],
    ['is a manifest', 'package.json'],
    ['is a folder', 'prompts'],
    ['leads through a file', 'goondan.yaml/x'],
    ['is a link', 'link.md'],
    ['leads through a link', 'linked/secret.md'],
    ['belongs to the state of Goondan', 'state/x.json'],
  ])('that %s is neither read nor written', async (_, path) => {
    stateRoot = join(bundle, 'state');
    put('../outside.md', 'secret');
    put('../elsewhere/secret.md', 'secret');
    put('.env', 'KEY=secret');
    put('package.json', '{}');
    put('state/x.json', '{}');
    symlinkSync('../outside.md', join(bundle, 'link.md'));
    symlinkSync('../elsewhere', join(bundle, 'linked'));
    const { changesets, id } = await opened();
    for (const attempt of [
      () => changesets.read(id, path),
      () => changesets.write(id, path, 'x'),
      () => changesets.write(id, path, null),
    ]) {
      expect(await code(attempt())).toBe('E_CHANGESET_FILE');
    }
    expect(await changesets.files()).toEqual(['goondan.yaml', 'prompts/a.md']);
  });

  test('of a missing file, or of a file that is not text, is refused', async () => {
    writeFileSync(join(bundle, 'image.png'), new Uint8Array([0x89, 0x50, 0xff, 0]));
    const { changesets, id } = await opened();
    for (const attempt of [
      () => changesets.read(id, 'missing.md'),
      () => changesets.write(id, 'missing.md', null),
      () => changesets.read(id, 'image.png'),
      () => changesets.write(id, 'image.png', 'x'),
      () => changesets.write(id, 'a.md', 'a\0b'),
      () => changesets.write(id, 'a.md', '\ud800'),
    ]) {
      expect(await code(attempt())).toBe('E_CHANGESET_FILE');
    }
  });

  test('cannot be inside another edited path, nor another spelling of one', async () => {
    const { changesets, id } = await opened();
    await changesets.write(id, 'docs/a', 'x');
    for (const path of ['docs/a/b', 'docs', 'docs/A', 'Docs/a']) {
      expect(await code(changesets.write(id, path, 'x'))).toBe('E_CHANGESET_FILE');
    }
    await changesets.write(id, 'docs/a.b', 'x');
  });

  test('in another spelling is refused where the file system ignores case', async () => {
    const look: BundleFs['look'] = (path) =>
      systemBundleFs.look(path.startsWith(bundle) ? bundle + path.slice(bundle.length).toLowerCase() : path);
    const changesets = open({ fs: { ...systemBundleFs, look } });
    const { id } = await changesets.open(owner);
    for (const path of ['Prompts/a.md', 'prompts/A.md', 'Prompts/new.md']) {
      expect(await code(changesets.write(id, path, 'x'))).toBe('E_CHANGESET_FILE');
    }
    await changesets.write(id, 'prompts/New.md', 'x');
  });

  test('keeps a byte order mark and every other character', async () => {
    put('bom.md', '\ufeffa\r\n한글');
    const { changesets, id } = await opened();
    const text = await changesets.read(id, 'bom.md');
    expect(text).toBe('\ufeffa\r\n한글');
    await changesets.write(id, 'bom.md', text);
    expect((await changesets.edits(id)).edits).toEqual([]);
  });
});

describe('a commit', () => {
  test('replaces all files, keeps their permissions, and waits for the swarm before it is done', async () => {
    chmodSync(join(bundle, 'prompts/a.md'), 0o754);
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': null, 'tools/x/index.ts': 'x' });
    const during: unknown[] = [];
    const record = await commit(id, async () => {
      during.push((await open().get(id)).state, files());
    });
    expect(during).toEqual(['applying', { 'prompts/a.md': 'new', 'tools/x/index.ts': 'x' }]);
    expect(record).toMatchObject({
      state: 'committed',
      commit: {
        by: 'ann',
        addedTools: ['x'],
        summary: { filesChanged: ['prompts/a.md'], filesAdded: ['tools/x/index.ts'], filesDeleted: ['goondan.yaml'] },
      },
    });
    expect(await open().get(id)).toEqual(record);
    expect(statSync(join(bundle, 'prompts/a.md')).mode & 0o777).toBe(0o754);
    const usual = 0o666 & ~process.umask();
    expect(statSync(join(bundle, 'tools/x/index.ts')).mode & 0o777).toBe(usual);
    expect(await code(open().write(id, 'prompts/a.md', 'later'))).toBe('E_CHANGESET_STATE');
  });

  test('of a committed changeset has the same outcome and does nothing', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new' });
    const { edits, digest } = await open().edits(id);
    const record = await commit(id);
    put('prompts/a.md', 'later');
    const again = open().apply(id, edits, { ...details, digest }, () => Promise.reject(new Error('not called')));
    expect(await again).toEqual(record);
    expect(files()['prompts/a.md']).toBe('later');
    const other = open().apply(id, edits, { ...details, digest: '0'.repeat(64) }, async () => undefined);
    expect(await code(other)).toBe('E_CHANGESET_STATE');
  });

  test('is kept for longer than a changeset may be open', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new' });
    await commit(id);
    now += 25 * HOUR;
    await open().sweep();
    expect(await open().find(id)).toMatchObject({ state: 'committed' });
  });

  test('of nothing is a conflict', async () => {
    expect(await code(commit(await withEdits({})))).toBe('E_CHANGESET_CONFLICT');
  });

  test('L-05 that the swarm refuses puts the old files back, and the open changeset has a note with the reason', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': null, 'tools/x/index.ts': 'x' });
    const before = files();
    expect(await rejectionOf(commit(id, () => Promise.reject(new Error('the trial failed'))))).toMatchObject({
      message: 'the trial failed',
    });
    expect(files()).toEqual(before);
    expect(existsSync(join(bundle, 'tools'))).toBe(false);
    const record = await open().get(id);
    expect(record.state).toBe('open');
    expect(record.commit).toBeUndefined();
    expect(record.notes).toEqual(['The commit was taken back: the trial failed']);
    await commit(id);
    expect(files()).toEqual({ 'prompts/a.md': 'new', 'tools/x/index.ts': 'x' });
  });

  test('that the swarm refuses leaves alone a file that was edited meanwhile, and says so', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': 'kind: Swarm # new\n' });
    await rejectionOf(
      commit(id, () => {
        put('prompts/a.md', 'by hand');
        return Promise.reject(new Error('refused'));
      }),
    );
    expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm\n', 'prompts/a.md': 'by hand' });
    expect((await open().get(id)).notes).toEqual([
      'The commit was taken back: refused',
      'Somebody edited prompts/a.md meanwhile, so it was left as it is.',
    ]);
  });

  test('that is taken back leaves no draft beside a file that was edited at the last moment', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new' });
    let isRefused = false;
    const openSharedFile: BundleFs['openSharedFile'] = (path) => {
      if (isRefused) put('prompts/a.md', 'by hand');
      return systemBundleFs.openSharedFile(path);
    };
    const refuse = () => {
      isRefused = true;
      return Promise.reject(new Error('no'));
    };
    await rejectionOf(commit(id, refuse, { fs: { ...systemBundleFs, openSharedFile } }));
    expect(readdirSync(join(bundle, 'prompts'))).toEqual(['a.md']);
    expect(files()['prompts/a.md']).toBe('by hand');
    expect((await open().get(id)).notes?.at(-1)).toContain('prompts/a.md');
  });

  test.each(['edited', 'deleted', 'made a link', 'made a folder', 'in a folder that became a link'])(
    'is a conflict if a file is %s meanwhile, and nothing changes',
    async (what) => {
      const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': 'kind: Swarm # new\n' });
      const path = join(bundle, 'prompts/a.md');
      if (what !== 'edited') rmSync(path);
      if (what === 'edited') put('prompts/a.md', 'by hand');
      if (what === 'made a link') symlinkSync('../goondan.yaml', path);
      if (what === 'made a folder') mkdirSync(path);
      if (what === 'in a folder that became a link') {
        put('../elsewhere/a.md', 'old\n');
        rmSync(dirname(path), { recursive: true });
        symlinkSync('../elsewhere', dirname(path));
      }
      expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
      expect(readFileSync(join(bundle, 'goondan.yaml'), 'utf8')).toBe('kind: Swarm\n');
      const elsewhere = join(root, 'elsewhere/a.md');
      if (existsSync(elsewhere)) expect(readFileSync(elsewhere, 'utf8')).toBe('old\n');
      const record = await open().get(id);
      expect(record.state).toBe('open');
      // The conflict was found before anything was begun.
      expect(record.notes).toBeUndefined();
    },
  );

  test('of other edits than those that were approved is a conflict', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new' });
    const { edits, digest } = await open().edits(id);
    await open().write(id, 'prompts/a.md', 'something else');
    const apply = open().apply(id, edits, { ...details, digest }, async () => undefined);
    expect(await code(apply)).toBe('E_CHANGESET_CONFLICT');
    const other = (await open().edits(id)).edits;
    expect(await code(open().apply(id, other, { ...details, digest }, async () => undefined))).toBe(
      'E_CHANGESET_CONFLICT',
    );
    const present = (await open().edits(id)).digest;
    expect(await code(open().apply(id, edits, { ...details, digest: present }, async () => undefined))).toBe(
      'E_CHANGESET_CONFLICT',
    );
    expect(files()['prompts/a.md']).toBe('old\n');
  });

  test('excludes every other commit and undo of the bundle, in this process and in others', async () => {
    const one = await withEdits({ 'prompts/a.md': 'new' });
    const other = await withEdits({ 'goondan.yaml': 'kind: Swarm # new\n' });
    const [begun, running] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = commit(one, () => {
      begun.resolve();
      return running.promise;
    });
    await begun.promise;
    expect(await code(open().recover({ waitMs: 0 }))).toBe('E_CHANGESET_BUSY');
    expect(await code(commit(other, undefined, { clock: impatient() }))).toBe('E_CHANGESET_BUSY');
    expect(await code(open({ clock: impatient() }).undo(one, 'ann', async () => undefined))).toBe('E_CHANGESET_BUSY');
    const waiting = commit(other);
    running.resolve();
    await first;
    await waiting;
    expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm # new\n', 'prompts/a.md': 'new' });
    expect((await open().list()).map(({ state }) => state)).toEqual(['committed', 'committed']);
  });

  test('in a bundle that cannot be written changes nothing and says which file', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': 'kind: Swarm # new\n' });
    const openSharedFile: BundleFs['openSharedFile'] = async (path) => {
      if (dirname(path) === join(bundle, 'prompts')) throw systemError('EACCES');
      return systemBundleFs.openSharedFile(path);
    };
    const fs = { ...systemBundleFs, openSharedFile };
    expect(await rejectionOf(commit(id, undefined, { fs }))).toMatchObject({
      code: 'E_STORE_WRITE',
      message: 'prompts/a.md of the bundle cannot be written: EACCES: simulated.',
    });
    expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm\n', 'prompts/a.md': 'old\n' });
    expect((await open().get(id)).state).toBe('open');
  });
});

test('a commit on a full disk replaces no file, and makes room for the record by removing what it wrote', async () => {
  const id = await withEdits({ 'a.md': 'new', 'goondan.yaml': 'kind: Swarm # new\n', 'prompts/a.md': 'new' });
  const drafts = () => readdirSync(bundle).filter((name) => name.startsWith('.changeset-'));
  const renamed: string[] = [];
  const fs: BundleFs = {
    ...systemBundleFs,
    async openSharedFile(path) {
      if (drafts().length === 2) throw systemError('ENOSPC');
      return systemBundleFs.openSharedFile(path);
    },
    async openFile(path) {
      if (drafts().length > 0) throw systemError('ENOSPC');
      return systemBundleFs.openFile(path);
    },
    async rename(from, to) {
      if (to.startsWith(bundle)) renamed.push(to);
      await systemBundleFs.rename(from, to);
    },
  };
  expect(await code(commit(id, undefined, { fs }))).toBe('E_DISK_FULL');
  expect(renamed).toEqual([]);
  expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm\n', 'prompts/a.md': 'old\n' });
  expect((await open().get(id)).state).toBe('open');
});

describe('an undo', () => {
  test('restores the old files, deletes the added ones with their folders, and records the person', async () => {
    chmodSync(join(bundle, 'goondan.yaml'), 0o640);
    const before = files();
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': null, 'tools/x/index.ts': 'x' });
    await commit(id);
    const record = await open().undo(id, 'ann', async () => expect(files()).toEqual(before));
    expect(record).toMatchObject({ state: 'undone', undone: { by: 'ann' } });
    expect(files()).toEqual(before);
    expect(existsSync(join(bundle, 'tools'))).toBe(false);
    expect(statSync(join(bundle, 'goondan.yaml')).mode & 0o777).toBe(0o640);
    expect(await code(open().undo(id, 'ann', async () => undefined))).toBe('E_CHANGESET_STATE');
  });

  test('keeps a folder of the changeset that has other files by now', async () => {
    const id = await withEdits({ 'tools/x/index.ts': 'x' });
    await commit(id);
    put('tools/mine.ts', 'mine');
    await open().undo(id, undefined, async () => undefined);
    expect(files()).toMatchObject({ 'tools/mine.ts': 'mine' });
    expect(existsSync(join(bundle, 'tools/x'))).toBe(false);
  });

  test('is refused if a file was edited since, and names the later changeset that did it', async () => {
    const one = await withEdits({ 'prompts/a.md': 'new' });
    await commit(one);
    const other = await withEdits({ 'prompts/a.md': 'newer' });
    await commit(other);
    expect(await rejectionOf(open().undo(one, 'ann', async () => undefined))).toMatchObject({
      code: 'E_CHANGESET_CONFLICT',
      message: `prompts/a.md was changed again by changeset ${other}.`,
    });
    await open().undo(other, 'ann', async () => undefined);
    put('prompts/a.md', 'by hand');
    expect(await rejectionOf(open().undo(one, 'ann', async () => undefined))).toMatchObject({
      code: 'E_CHANGESET_CONFLICT',
      message: expect.stringContaining('prompts/a.md'),
    });
    expect(files()['prompts/a.md']).toBe('by hand');
    expect((await open().get(one)).state).toBe('committed');
  });

  test('that the swarm refuses puts the new files back', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new', 'goondan.yaml': null, 'tools/x/index.ts': 'x' });
    await commit(id);
    const after = files();
    const undo = open().undo(id, 'ann', () => Promise.reject(new Error('the reload failed')));
    expect(await rejectionOf(undo)).toMatchObject({ message: 'the reload failed' });
    expect(files()).toEqual(after);
    const record = await open().get(id);
    expect(record).toMatchObject({ state: 'committed', notes: ['The undo was taken back: the reload failed'] });
    expect(record.undone).toBeUndefined();
  });
});

describe('recovery', () => {
  test('of nothing needs no folder, and makes none', async () => {
    expect(await open().recover()).toEqual([]);
    await open().sweep();
    expect(existsSync(stateRoot)).toBe(false);
  });

  test('leaves alone a folder that became a link, and says so', async () => {
    const id = await interruptedCommit();
    put('../elsewhere/a.md', 'new');
    rmSync(join(bundle, 'prompts'), { recursive: true });
    symlinkSync('../elsewhere', join(bundle, 'prompts'));
    const [recovery] = await open().recover();
    expect(recovery).toMatchObject({ outcome: 'open', leftAlone: ['prompts/a.md'], record: { id } });
    expect(readdirSync(join(root, 'elsewhere'))).toEqual(['a.md']);
    expect(readFileSync(join(root, 'elsewhere/a.md'), 'utf8')).toBe('new');
    expect(lstatSync(join(bundle, 'prompts')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(bundle, 'goondan.yaml'), 'utf8')).toBe('kind: Swarm\n');
  });

  test('removes no folder behind a link', async () => {
    await interruptedCommit();
    put('../elsewhere/x/y.md', '');
    rmSync(join(root, 'elsewhere/x/y.md'));
    put('goondan.yaml', 'by hand');
    symlinkSync('../elsewhere', join(bundle, 'tools'));
    expect(await open().recover()).toMatchObject([
      { outcome: 'open', leftAlone: ['goondan.yaml', 'tools/x/index.ts'] },
    ]);
    expect(existsSync(join(root, 'elsewhere/x'))).toBe(true);
  });

  test('waits until the folder of the bundle is back', async () => {
    const id = await interruptedCommit();
    renameSync(bundle, join(root, 'moved'));
    expect(await rejectionOf(open().recover())).toMatchObject({
      code: 'E_STORE_READ',
      message: expect.stringContaining(bundle),
    });
    expect((await open().get(id)).state).toBe('applying');
    renameSync(join(root, 'moved'), bundle);
    expect(await open().recover()).toMatchObject([{ outcome: 'committed' }]);
    expect(files()).toEqual({
      'goondan.yaml': 'kind: Swarm # new\n',
      'prompts/a.md': 'new',
      'tools/x/index.ts': 'x',
    });
  });

  test('that cannot write says so, and the next one finishes', async () => {
    const id = await interruptedCommit();
    const rename = async (from: string, to: string) => {
      if (to.startsWith(bundle)) throw systemError('EIO');
      return systemBundleFs.rename(from, to);
    };
    expect(await code(open({ fs: { ...systemBundleFs, rename } }).recover())).toBe('E_STORE_WRITE');
    expect(await open().recover()).toMatchObject([{ outcome: 'committed', record: { id } }]);
  });

  test('goes back if a new content is damaged', async () => {
    const id = await interruptedCommit();
    put('prompts/a.md', 'old\n');
    for (const { after } of (await open().get(id)).edits) writeFileSync(paths().content(id, after ?? ''), 'damaged');
    expect(await open().recover()).toMatchObject([{ outcome: 'open', leftAlone: [] }]);
    expect(files()).toEqual({ 'goondan.yaml': 'kind: Swarm\n', 'prompts/a.md': 'old\n' });
  });

  test('finishes the changeset of another process before a commit, which is then a conflict', async () => {
    await interruptedCommit();
    const id = await withEdits({ 'other.md': 'x' });
    expect(await code(commit(id))).toBe('E_CHANGESET_CONFLICT');
    expect(files()).toMatchObject({ 'goondan.yaml': 'kind: Swarm # new\n', 'prompts/a.md': 'new' });
    await commit(id);
  });
});

describe('the store', () => {
  test('puts a damaged record aside with a warning, and keeps the others', async () => {
    const one = await withEdits({ 'prompts/a.md': 'new' });
    const other = await withEdits({ 'prompts/a.md': 'newer' });
    const path = paths().record(one);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"open"', '"undone"'));
    expect((await open().list()).map(({ id }) => id)).toEqual([other]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(one);
    expect(readdirSync(paths().folder).some((name) => name.startsWith(`${one}.corrupt-`))).toBe(true);
    expect(await open().recover()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test.each([
    ['folder', (path: string) => mkdirSync(path)],
    ['link', (path: string) => symlinkSync('/dev/zero', path)],
  ])('puts a changeset aside whose record is a %s', async (_, make) => {
    const one = await withEdits({ 'prompts/a.md': 'new' });
    const other = await withEdits({ 'prompts/a.md': 'newer' });
    rmSync(paths().record(one));
    make(paths().record(one));
    expect((await open().list()).map(({ id }) => id)).toEqual([other]);
    expect(warnings).toEqual([expect.stringContaining('is not a regular file')]);
    await commit(other);
    expect(warnings).toHaveLength(1);
  });

  test('keeps the last 100 ended changesets, and never a leftover', async () => {
    const disk = SimulatedDisk.empty();
    await disk.makeFolder('/bundle');
    const takeLock = async () => ({ release: () => undefined });
    const inMemory = { fs: simulatedBundleDisk(disk), takeLock, stateRoot: '/state', bundleFolder: '/bundle' };
    const changesets = open(inMemory);
    const ids: string[] = [];
    for (let count = 0; count < 103; count += 1) {
      now += 1000;
      const { id } = await changesets.open(owner);
      await changesets.write(id, 'a.md', String(count));
      await commit(id, undefined, inMemory);
      ids.push(id);
    }
    const { id: last } = await changesets.open(owner);
    const { folder } = changesetPaths('/state', '/bundle');
    const names = ['.deleted-x', `.draft-${now - 2 * HOUR}-x`, `.draft-${now}-y`];
    for (const name of names) await disk.makeFolder(`${folder}/${name}`);
    await changesets.sweep();
    const kept = (await changesets.list()).map(({ id }) => id);
    expect(kept.toSorted()).toEqual([...ids.slice(3), last].toSorted());
    expect((await disk.list(folder))?.filter((name) => name.startsWith('.'))).toEqual([`.draft-${now}-y`]);
  });

  test('makes private trial folders, and a sweep removes only those that are not in use', async () => {
    const changesets = open();
    const trial = await changesets.makeTrialFolder();
    writeFileSync(join(trial.path, '.env'), 'KEY=secret');
    expect(statSync(trial.path).mode & 0o777).toBe(0o700);
    const left = join(paths().trials, 'trial-left');
    mkdirSync(left);
    writeFileSync(`${left}.lock`, '');
    await open().sweep();
    expect(existsSync(trial.path)).toBe(true);
    expect(existsSync(left)).toBe(false);
    await trial.remove();
    expect(readdirSync(paths().trials)).toEqual([]);
  });

  test('warns of a trial folder that cannot be removed, and a sweep removes it later', async () => {
    const removeFolder = async () => {
      throw systemError('EIO');
    };
    const trial = await open({ fs: { ...systemBundleFs, removeFolder } }).makeTrialFolder();
    await trial.remove();
    expect(warnings).toEqual([expect.stringContaining('could not be removed yet')]);
    await open().sweep();
    expect(readdirSync(paths().trials)).toEqual([]);
  });

  test('knows the state root by any way to it', async () => {
    put('state/x.json', '{}');
    symlinkSync(join(bundle, 'state'), join(root, 'linked-state'));
    stateRoot = join(root, 'linked-state');
    const { id } = await open().open(owner);
    expect(await code(open().read(id, 'state/x.json'))).toBe('E_CHANGESET_FILE');
    expect(await open().files()).toEqual(['goondan.yaml', 'prompts/a.md']);
  });

  test('is shared by all ways to one bundle, and by no other bundle', async () => {
    const { id } = await open().open(owner);
    symlinkSync(bundle, join(root, 'way'));
    expect((await open({ bundleFolder: join(root, 'way') }).find(id))?.id).toBe(id);
    mkdirSync(join(root, 'other'));
    expect(await open({ bundleFolder: join(root, 'other') }).list()).toEqual([]);
  });

  test('keeps its files private', async () => {
    const id = await withEdits({ 'prompts/a.md': 'new' });
    expect(statSync(paths().changeset(id)).mode & 0o777).toBe(0o700);
    expect(statSync(paths().record(id)).mode & 0o777).toBe(0o600);
  });
});

const details = { by: 'ann', baseRef: 'b', newRef: 'n', addedTools: ['x'] };

function open(more: Partial<ChangesetsPlace> = {}) {
  const clock = { ...systemClock, now: () => new Date(now) };
  const warn = ({ message }: { message: string }) => void warnings.push(message);
  return openChangesets({ stateRoot, bundleFolder: bundle, clock, warn, ...more });
}

async function opened() {
  const changesets = open();
  return { changesets, id: (await changesets.open(owner)).id };
}

/** A clock on which every wait is over at once. */
function impatient(): Clock {
  let elapsed = 0;
  const after: Clock['after'] = (ms, action) => {
    elapsed += Math.max(ms, 6000);
    return systemClock.after(0, action);
  };
  return { now: () => new Date(now), elapsed: () => elapsed, after };
}

async function withEdits(edits: Readonly<Record<string, string | null>>): Promise<string> {
  const { changesets, id } = await opened();
  for (const [path, content] of Object.entries(edits)) await changesets.write(id, path, content);
  return id;
}

async function commit(id: string, whileApplied = async () => undefined as void, more: Partial<ChangesetsPlace> = {}) {
  const changesets = open(more);
  const { edits, digest } = await changesets.edits(id);
  return changesets.apply(id, edits, { ...details, digest }, whileApplied);
}

/** Leaves a commit of three files as a killed process does: one file is new, the others are old. */
async function interruptedCommit(): Promise<string> {
  const id = await withEdits({
    'prompts/a.md': 'new',
    'goondan.yaml': 'kind: Swarm # new\n',
    'tools/x/index.ts': 'x',
  });
  let applying = '';
  await rejectionOf(
    commit(id, () => {
      applying = readFileSync(paths().record(id), 'utf8');
      return Promise.reject(new Error('stop'));
    }),
  );
  writeFileSync(paths().record(id), applying);
  put('prompts/a.md', 'new');
  return id;
}

function paths() {
  return changesetPaths(stateRoot, bundle);
}

function put(path: string, content: string): void {
  const whole = join(bundle, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
}

function files(): Record<string, string> {
  const names = readdirSync(bundle, { recursive: true, encoding: 'utf8' }).toSorted();
  const contents = names.flatMap((name) =>
    statSync(join(bundle, name)).isFile() ? [[name, readFileSync(join(bundle, name), 'utf8')] as const] : [],
  );
  return Object.fromEntries(contents);
}

async function code(promise: Promise<unknown>): Promise<unknown> {
  const error = await rejectionOf(promise);
  return error instanceof Error && 'code' in error ? error.code : error;
}
