import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemFs } from './fs.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const folder = temporaryFolder();
const path = join(folder, 'file');
afterEach(() => rmSync(path, { force: true, recursive: true }));

const bytes = (text: string) => Buffer.from(text);
const textOf = async (...where: Parameters<typeof systemFs.read>) =>
  Buffer.from((await systemFs.read(...where)) ?? '').toString();

test('files are 0600 and folders 0700', async () => {
  await systemFs.makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const file = await systemFs.openFile(join(path, 'a'));
  await file.close();
  await systemFs.createNew(join(path, 'b'), bytes('x'));
  for (const name of ['a', 'b']) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
});

test('only a missing file is undefined', async () => {
  expect(await systemFs.read(path)).toBeUndefined();
  expect(await systemFs.stat(path)).toBeUndefined();
  expect(await systemFs.list(path)).toBeUndefined();
  await systemFs.makeFolder(path);
  expect(await rejectionOf(systemFs.read(path))).toMatchObject({ code: 'EISDIR' });
  expect(await systemFs.list(join(path, 'x'))).toBeUndefined();
});

test('a pipe is refused, and does not block', async () => {
  expect(Bun.spawnSync(['mkfifo', path]).success).toBe(true);
  expect(await rejectionOf(systemFs.read(path))).toMatchObject({ code: 'EINVAL' });
});

test('append goes to the end, also after truncate', async () => {
  const file = await systemFs.openFile(path);
  await file.append(bytes('hello'));
  await file.truncate(2);
  await file.append(bytes('y'));
  await file.sync();
  await file.close();
  expect(await textOf(path)).toBe('hey');
  expect(await textOf(path, 1)).toBe('ey');
  expect(await textOf(path, 1, 1)).toBe('e');
  expect((await systemFs.stat(path))?.size).toBe(3);
});

test('createNew does not change an existing file', async () => {
  expect(await systemFs.createNew(path, bytes('first'))).toBe(true);
  expect(await systemFs.createNew(path, bytes('second'))).toBe(false);
  expect(await textOf(path)).toBe('first');
  expect(await systemFs.list(folder)).toEqual(['file']);
});

test('another file under the same name has another identity', async () => {
  await systemFs.createNew(path, bytes('one'));
  const before = await systemFs.stat(path);
  await systemFs.createNew(`${path}.next`, bytes('two'));
  await systemFs.rename(`${path}.next`, path);
  await systemFs.syncFolder(folder);
  expect((await systemFs.stat(path))?.identity).not.toBe(before?.identity);
});

test('a folder is removed with its contents, but without the targets of its links', async () => {
  const kept = join(folder, 'kept');
  writeFileSync(kept, 'x');
  mkdirSync(join(path, 'deep', 'deeper'), { recursive: true });
  writeFileSync(join(path, 'deep', 'deeper', 'a'), 'x');
  symlinkSync(folder, join(path, 'deep', 'link'));
  await systemFs.removeFolder(path);
  expect(await systemFs.stat(path)).toBeUndefined();
  expect(await textOf(kept)).toBe('x');
  await systemFs.removeFolder(path);
});
