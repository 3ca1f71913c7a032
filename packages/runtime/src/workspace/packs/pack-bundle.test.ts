import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { packBundle, unpackBundle } from './pack-bundle.ts';
import { packFolder } from './pack-folder.ts';

const files = { 'goondan.yaml': 'kind: Swarm\n', 'tools/a.ts': 'export const a = 1;\n', 'deep/er/b.txt': '\0\x01é' };
const codeOf = (action: () => unknown): unknown => {
  try {
    action();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return 'no error';
};
const packOf = (entries: readonly unknown[], version = 1) => gzipSync(JSON.stringify({ version, files: entries }));

describe('a packed bundle', () => {
  test('S-09 has the same files and the same digest at every node', () => {
    using from = temporaryBundle(files);
    using to = temporaryBundle({ 'tools/old.ts': 'old', deep: 'a file where a folder comes', '.env': 'KEY=1\n' });
    chmodSync(join(from.folder, 'tools/a.ts'), 0o755);
    const { digest, bytes } = packBundle(from.folder);
    expect(unpackBundle(bytes, to.folder)).toBe(digest);
    for (const [path, text] of Object.entries(files)) expect(readFileSync(join(to.folder, path), 'utf8')).toBe(text);
    expect(statSync(join(to.folder, 'tools/a.ts')).mode & 0o100).toBe(0o100);
    expect(existsSync(join(to.folder, 'tools/old.ts'))).toBe(false);
    expect(readFileSync(join(to.folder, '.env'), 'utf8')).toBe('KEY=1\n');
    expect(packBundle(to.folder).digest).toBe(digest);
    writeFileSync(join(to.folder, 'tools/a.ts'), 'changed');
    expect(packBundle(to.folder).digest).not.toBe(digest);
  });

  test('an unchanged file is not written again', () => {
    using from = temporaryBundle(files);
    using to = temporaryBundle({});
    const { bytes } = packBundle(from.folder);
    unpackBundle(bytes, to.folder);
    const inode = () => statSync(join(to.folder, 'goondan.yaml')).ino;
    const before = inode();
    unpackBundle(bytes, to.folder);
    expect(inode()).toBe(before);
  });

  test('S-06 has no values of the environment, no packages, no keys, and nothing of Git', () => {
    const keys = ['.npmrc', 'deep/.netrc', '.pgpass', '.ssh/id', 'tls/node.pem', 'tls/NODE.KEY', 'a.p12', 'b.pfx'];
    using bundle = temporaryBundle(files);
    const { digest } = packBundle(bundle.folder);
    for (const path of [
      '.env',
      '.env.local',
      '.git/config',
      'node_modules/x/index.js',
      'deep/.env',
      'state/x',
      ...keys,
    ]) {
      mkdirSync(join(bundle.folder, path, '..'), { recursive: true });
      writeFileSync(join(bundle.folder, path), 'SECRET=value-of-a-secret');
    }
    const { digest: after, bytes } = packBundle(bundle.folder, { paths: [join(bundle.folder, 'state')] });
    expect(after).toBe(digest);
    expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(bytes)))).not.toContain(
      Buffer.from('SECRET=value').toString('base64').slice(0, 12),
    );
  });

  test('S-06 has no file that is kept out, however its path is written', () => {
    using bundle = temporaryBundle({ ...files, 'store.txt': 'hush' });
    using elsewhere = temporaryBundle({});
    using plain = temporaryBundle(files);
    symlinkSync(bundle.folder, join(elsewhere.folder, 'link'));
    const linked = join(elsewhere.folder, 'link');
    for (const folder of [bundle.folder, linked]) {
      for (const path of [join(bundle.folder, 'store.txt'), join(linked, 'store.txt')])
        expect(packBundle(folder, { paths: [path, '/nowhere'] }).digest).toBe(packBundle(plain.folder).digest);
    }
  });

  test('S-06 is refused with the name of the file that contains a secret', () => {
    using bundle = temporaryBundle({ ...files, 'deep/notes.txt': 'The token is hush-hush.' });
    expect(() => packBundle(bundle.folder, { secrets: ['', 'hush-hush'] })).toThrow(
      'deep/notes.txt contains the token',
    );
    expect(codeOf(() => packBundle(bundle.folder, { secrets: ['hush-hush'] }))).toBe('E_BUNDLE_SECRET');
    expect(codeOf(() => packBundle(bundle.folder, { secrets: ['', 'another'] }))).toBe('no error');
  });

  test('a link to a file of the bundle is this file; a link out of it, or to nothing, is refused', () => {
    using outside = temporaryBundle({ 'secret.txt': 'secret' });
    using bundle = temporaryBundle(files);
    symlinkSync('goondan.yaml', join(bundle.folder, 'same.yaml'));
    using to = temporaryBundle({});
    unpackBundle(packBundle(bundle.folder).bytes, to.folder);
    expect(lstatSync(join(to.folder, 'same.yaml')).isFile()).toBe(true);
    for (const target of [join(outside.folder, 'secret.txt'), outside.folder, 'nothing', '..', '.']) {
      using linked = temporaryBundle(files);
      symlinkSync(target, join(linked.folder, 'link'));
      expect(codeOf(() => packBundle(linked.folder))).toBe('E_PATH_OUTSIDE');
    }
  });

  test('a folder with too many or too large files is refused', () => {
    using bundle = temporaryBundle(files);
    const pack = (mostFiles: number, mostBytes: number) =>
      codeOf(() => packFolder(bundle.folder, { mostFiles, mostBytes }, () => false));
    expect(pack(100, 1_000)).toBe('no error');
    expect(pack(3, 1_000)).toBe('E_BUNDLE_LIMIT');
    expect(pack(100, 10)).toBe('E_BUNDLE_LIMIT');
  });
});

describe('bytes that are no pack', () => {
  const content = Buffer.from('x').toString('base64');
  test.each([
    ['../out', packOf([['../out', false, content]])],
    ['an absolute path', packOf([['/tmp/out', false, content]])],
    ['a/../../out', packOf([['a/../../out', false, content]])],
    ['a backslash', packOf([['a\\..\\out', false, content]])],
    ['a zero byte', packOf([['a\0b', false, content]])],
    ['an empty path', packOf([['', false, content]])],
    [
      'the same path twice',
      packOf([
        ['a', false, content],
        ['a', false, content],
      ]),
    ],
    [
      'a file below a file',
      packOf([
        ['a', false, content],
        ['a/b', false, content],
      ]),
    ],
    ['another shape', packOf([{ path: 'a' }])],
    ['no list', gzipSync('{"version":1}')],
    ['another version', packOf([], 2)],
    ['no JSON', gzipSync('nothing')],
    ['nothing compressed', new TextEncoder().encode('plain')],
    ['too many bytes', gzipSync(Buffer.alloc(300 * 1024 * 1024))],
  ])('%s: refused, and nothing is written', (_, bytes) => {
    using to = temporaryBundle({ 'kept.txt': 'kept' });
    expect(codeOf(() => unpackBundle(bytes, to.folder))).toBe('E_STORE_CORRUPT');
    expect(readFileSync(join(to.folder, 'kept.txt'), 'utf8')).toBe('kept');
  });

  test('a link in the folder is replaced, and not followed', () => {
    using outside = temporaryBundle({ 'a.txt': 'outside' });
    using to = temporaryBundle({});
    symlinkSync(outside.folder, join(to.folder, 'linked'));
    symlinkSync(join(outside.folder, 'a.txt'), join(to.folder, 'a.txt'));
    unpackBundle(
      packOf([
        ['a.txt', false, content],
        ['linked/a.txt', false, content],
      ]),
      to.folder,
    );
    expect(readFileSync(join(outside.folder, 'a.txt'), 'utf8')).toBe('outside');
    expect(readFileSync(join(to.folder, 'linked/a.txt'), 'utf8')).toBe('x');
  });
});
