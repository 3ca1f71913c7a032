// Tries every known way to leave the folder, with every operation.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editText } from './edit-text.ts';
import { listFolder } from './list-folder.ts';
import { readText } from './read-text.ts';
import { findMatches } from './search/find-matches.ts';
import { CANARY, type GuardedFolder, guardedFolder } from './testing/guarded-folder.ts';
import { writeText } from './write-text.ts';

/** Lists paths that would lead out of the guarded folder. */
function escapesFrom({ base, root, outside }: GuardedFolder): string[] {
  const targets = ['outside/secret.txt', 'outside', 'outside/dir/deep.txt', 'outside/made.txt'];
  const ups = [
    '../',
    './../',
    '..//',
    './/..//',
    'a/../../',
    'a/b/../../../',
    'a/./b/.././../../',
    'link-in/../../',
    'abs-in/../../../',
    'twice-in/../../../',
    'a/../a/../a/../../',
    'up/',
    './up/',
    'up/./',
    'a/../up/',
    'up/root/../',
    'up/root/up/',
    '.hidden/../../',
    'nowhere/../../',
    `${root}/../`,
    `${root}/a/../../`,
    `${root}/up/`,
    `${root}//../`,
    `${base}/`,
    `${base}/./`,
    `/${base}/`,
    `//${base}/`,
    `slash${base}/`,
    `slash/.${base}/`,
    `proc-root${base}/`,
    `/proc/self/root${base}/`,
    `/proc/self/cwd/../../../../../../..${base}/`,
    `/proc/${process.pid}/root${base}/`,
    `/proc/thread-self/root${base}/`,
    `etc/..${base}/`,
    `../../../../../../../../../../../..${base}/`,
    `a/../../../../../../../../../..${base}/`,
  ];
  const links = ['link-out', 'abs-out', 'a/up-out', 'dot-out', 'chain-1', 'chain-2', 'through-in', 'a/../link-out'];
  const inside = [
    '/secret.txt',
    '',
    '/',
    '/.',
    '/dir/deep.txt',
    '/dir/../secret.txt',
    '/../outside/secret.txt',
    '/made.txt',
  ];
  const others = [
    'file-out',
    './file-out',
    'a/b/abs-file',
    'abs-in/abs-file',
    'twin-out/secret.txt',
    'dangling-out',
    'dangling-dir/made.txt',
    'loop',
    'loop-a/x',
    'zero',
    'etc/passwd',
    'proc-cwd/package.json',
    'proc-fd/0',
    'proc-root/etc/passwd',
    'slash/etc/passwd',
    '/etc/passwd',
    '//etc/passwd',
    '///etc///passwd',
    '/',
    '/.',
    '/dev/zero',
    '/dev/stdin',
    '/proc/self/environ',
    '/proc/self/maps',
    '..',
    '../',
    '../..',
    'a/../..',
    `${outside}/../outside/secret.txt`,
    `${root}-evil/secret.txt`,
    `${root}/../root-evil/secret.txt`,
    '../root-evil/secret.txt',
    `${root.slice(0, -1)}/secret.txt`,
    '../roo/secret.txt',
    `${base}/root/link-out/secret.txt`,
    // Paths that become dangerous if another layer decodes, normalises or cuts them.
    'inside.txt\0',
    '\0',
    '../outside/secret.txt\0.txt',
    '..\0/outside/secret.txt',
    '%2e%2e/outside/secret.txt',
    '%2e%2e%2foutside%2fsecret.txt',
    '..%2foutside%2fsecret.txt',
    '..%c0%afoutside%c0%afsecret.txt',
    '%252e%252e/outside/secret.txt',
    String.raw`..\outside\secret.txt`,
    String.raw`..\/outside/secret.txt`,
    String.raw`\..\outside`,
    '．．/outside/secret.txt',
    '․․/outside/secret.txt',
    '‥/outside/secret.txt',
    '..／outside／secret.txt',
    '..∕outside∕secret.txt',
    '.\u200b./outside/secret.txt',
    '\u202e../outside/secret.txt',
    '....//outside/secret.txt',
    '..././outside/secret.txt',
    '..;/outside/secret.txt',
    '.. /outside/secret.txt',
    ' ../outside/secret.txt',
    '..\t/outside/secret.txt',
    '..\n/outside/secret.txt',
    '../outside/secret.txt\n',
    '~/../outside/secret.txt',
    '~root/.profile',
    '$HOME/.profile',
    '${HOME}/.profile',
    '`pwd`/../outside',
    'file:///etc/passwd',
    `file://${outside}/secret.txt`,
    'C:\\Windows\\win.ini',
    '\\\\localhost\\c$\\secret.txt',
    `LINK-OUT/secret.txt`,
    '../OUTSIDE/secret.txt',
    `${'../'.repeat(64)}etc/passwd`,
    `${'a/../'.repeat(300)}../outside/secret.txt`,
    `${'./'.repeat(1_000)}../outside/secret.txt`,
    `${'x'.repeat(300)}/../../outside/secret.txt`,
    `${'x/'.repeat(3_000)}secret.txt`,
  ];
  return [
    ...ups.flatMap((up) => targets.map((target) => up + target)),
    ...links.flatMap((link) => inside.map((rest) => link + rest)),
    ...others,
  ];
}

let folder: GuardedFolder;
beforeEach(() => void (folder = guardedFolder()));
afterEach(() => folder[Symbol.dispose]());

const limits = { readOnly: false, readLimit: 50_000, fileLimit: 1_000_000 };

/** Tries every operation on a path. Returns each result, or the code of its error. */
function tryAll(path: string): string[] {
  const bounds = { root: folder.root, ...limits };
  const ask = { root: folder.root, path, ignoreCase: false, skip: [], fileLimit: 1_000_000, pattern: '.' };
  const operations = {
    read: () => readText({ path }, bounds),
    list: () => listFolder({ path }, bounds),
    search: () => [...findMatches(ask)],
    edit: () => editText({ path, old: CANARY, new: 'hacked', all: true }, bounds),
    write: () => writeText({ path, text: 'hacked' }, bounds),
  };
  return Object.entries(operations).map(([name, act]) => {
    try {
      return `${name}: ${JSON.stringify(act())}`;
    } catch (error) {
      const { code, message } = error as { code: unknown; message: string };
      return `${name}: ${String(code)} ${message}`;
    }
  });
}

describe('the tool file-system', () => {
  test('at least 200 escapes are tried, each once', () => {
    const paths = escapesFrom(folder);
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
    expect(paths.length).toBeGreaterThanOrEqual(200);
  });

  test('no path leads out of the folder, to read, list, search, edit or write', () => {
    const before = folder.snapshot();
    const results = escapesFrom(folder).map((path) => ({ path, tried: tryAll(path) }));
    for (const { path, tried } of results) {
      const said = tried.join('\n');
      expect({ path, said: said.includes(CANARY) || said.includes('root:x:') }).toEqual({ path, said: false });
      // Every refusal comes from the tool itself, with its message.
      for (const one of tried) expect(one).toMatch(/^\w+: (?:\{|\[|E_FILE_)/);
    }
    expect(folder.snapshot()).toEqual(before);
  });

  test('a path that leads out is reported as such', () => {
    const twin = `${folder.root}-evil/secret.txt`;
    for (const path of ['../outside/secret.txt', 'link-out/x', 'file-out', '/etc/passwd', 'up', 'a/up-out', twin]) {
      expect(tryAll(path)).toEqual(
        ['read', 'list', 'search', 'edit', 'write'].map((name) =>
          expect.stringContaining(`${name}: E_FILE_OUTSIDE ${JSON.stringify(path)} is not inside`),
        ),
      );
    }
  });

  test('a NUL is rejected before the system is asked', () => {
    const tried = tryAll('inside.txt\0');
    expect(tried).toEqual(
      tried.map(() => expect.stringContaining('E_FILE_OUTSIDE "inside.txt\\u0000" contains a NUL')),
    );
  });

  test('a search from the top does not follow a link out', () => {
    const ask = { root: folder.root, path: '.', ignoreCase: false, skip: [], fileLimit: 1_000_000 };
    expect(JSON.stringify([...findMatches({ ...ask, pattern: 'canary|root:x' })])).toBe('[]');
    expect(JSON.stringify([...findMatches({ ...ask, glob: '**/secret.txt' })])).toBe('[]');
  });

  test('pipes, sockets and devices are rejected and never block', async () => {
    spawnSync('mkfifo', [join(folder.root, 'pipe')]);
    using socket = Bun.listen({ unix: join(folder.root, 'socket'), socket: { data: () => undefined } });
    expect(socket.unix).toBe(join(folder.root, 'socket'));
    for (const path of ['pipe', 'socket']) {
      const tried = tryAll(path);
      expect(tried).toEqual(tried.map(() => expect.stringContaining(': E_FILE_KIND')));
    }
    const whole = { root: folder.root, path: '.', ignoreCase: false, skip: [], fileLimit: 1_000_000, pattern: '.' };
    expect(JSON.stringify([...findMatches(whole)])).not.toMatch(/pipe|socket/);
  });

  test('a link in place of the root is the root: its target is inside', () => {
    const other = mkdtempSync(join(tmpdir(), 'goondan-alias-'));
    try {
      const alias = join(other, 'alias');
      symlinkSync(folder.root, alias);
      const bounds = { root: alias, ...limits };
      for (const path of ['inside.txt', `${alias}/inside.txt`, `${folder.root}/inside.txt`]) {
        expect(readText({ path }, bounds)).toMatchObject({ path: 'inside.txt', text: 'inside\n' });
      }
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

describe('inner paths are reached, whatever their name', () => {
  test.each([
    'inside.txt',
    './inside.txt',
    './/./inside.txt',
    'a/../inside.txt',
    'a/b/../../inside.txt',
    'a/back',
    'a/b/abs-back',
    'link-in/back',
    'link-in/../inside.txt',
  ])('%s is inside.txt', (path) => {
    expect(readText({ path }, { root: folder.root, ...limits })).toMatchObject({
      path: 'inside.txt',
      text: 'inside\n',
    });
  });

  test.each(['a/b/c.txt', 'a//b///c.txt', 'link-in/b/c.txt', 'abs-in/c.txt', 'twice-in/c.txt', 'a/./b/./c.txt'])(
    '%s is a/b/c.txt',
    (path) => {
      expect(readText({ path }, { root: folder.root, ...limits })).toMatchObject({ path: 'a/b/c.txt', text: 'deep\n' });
    },
  );

  test.each([
    'ünï/한글 🙂.txt',
    ' spaces in it ',
    'line\nbreak',
    '-rf',
    '...',
    '..a',
    'a..',
    '....',
    '~',
    '$HOME',
    '%2e%2e',
    String.raw`..\x`,
    'new/folders/on/the/way.txt',
    'x'.repeat(255),
    '<>:"|?*',
  ])('%j can be written, read, edited and found', (path) => {
    const bounds = { root: folder.root, ...limits };
    expect(writeText({ path, text: 'one' }, bounds)).toEqual({ path, bytes: 3, created: true });
    expect(editText({ path, old: 'one', new: 'two' }, bounds)).toMatchObject({ path, replaced: 1 });
    expect(readText({ path }, bounds)).toMatchObject({ path, text: 'two' });
    const ask = { root: folder.root, path: '.', ignoreCase: false, skip: [], fileLimit: 1_000, pattern: '^two$' };
    expect([...findMatches(ask)]).toContainEqual({ match: { path, line: 1, text: 'two' } });
  });

  test('the root itself can be listed, by any of its names', () => {
    for (const path of ['.', './', 'a/..', folder.root, `${folder.root}/`]) {
      const { path: found, entries } = listFolder({ path }, { root: folder.root });
      expect(found).toBe('.');
      expect(entries).toContainEqual({ name: 'inside.txt', type: 'file', bytes: 7 });
      expect(entries).toContainEqual({ name: 'link-out', type: 'link' });
    }
  });
});
