import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemBundleFs } from './bundle-fs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-fs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

test('sees files, folders and links as they are, and nothing where nothing is', async () => {
  writeFileSync(at('file'), 'abc');
  chmodSync(at('file'), 0o751);
  mkdirSync(at('folder'));
  symlinkSync('file', at('link'));
  symlinkSync('nowhere', at('broken'));
  expect(await systemBundleFs.look(at('file'))).toEqual({ kind: 'file', size: 3, mode: 0o751 });
  expect(await systemBundleFs.look(at('folder'))).toMatchObject({ kind: 'folder' });
  expect(await systemBundleFs.look(at('link'))).toMatchObject({ kind: 'link' });
  expect(await systemBundleFs.look(at('broken'))).toMatchObject({ kind: 'link' });
  expect(await systemBundleFs.look('/dev/null')).toMatchObject({ kind: 'other' });
  expect(await systemBundleFs.look(at('missing'))).toBeUndefined();
  expect(await systemBundleFs.look(at('file/inside'))).toBeUndefined();
});

test('makes files and folders with the usual permissions, and changes them', async () => {
  const file = await systemBundleFs.openSharedFile(at('new'));
  await file.append(new TextEncoder().encode('x'));
  await file.close();
  expect(readFileSync(at('new'), 'utf8')).toBe('x');
  expect(statSync(at('new')).mode & 0o777).toBe(0o666 & ~process.umask());
  await systemBundleFs.setMode(at('new'), 0o640);
  expect(statSync(at('new')).mode & 0o777).toBe(0o640);
  await systemBundleFs.makeSharedFolder(at('made'));
  await systemBundleFs.makeSharedFolder(at('made'));
  expect(statSync(at('made')).mode & 0o777).toBe(0o777 & ~process.umask());
});

test('does not write through a link', async () => {
  writeFileSync(at('target'), 'old');
  symlinkSync('target', at('link'));
  expect(systemBundleFs.openSharedFile(at('link'))).rejects.toMatchObject({ code: 'ELOOP' });
  expect(readFileSync(at('target'), 'utf8')).toBe('old');
});

test('removes a folder only if it is empty', async () => {
  mkdirSync(at('full/empty'), { recursive: true });
  await systemBundleFs.removeEmptyFolder(at('full'));
  expect(existsSync(at('full/empty'))).toBe(true);
  await systemBundleFs.removeEmptyFolder(at('full/empty'));
  await systemBundleFs.removeEmptyFolder(at('full'));
  await systemBundleFs.removeEmptyFolder(at('full'));
  expect(existsSync(at('full'))).toBe(false);
});
