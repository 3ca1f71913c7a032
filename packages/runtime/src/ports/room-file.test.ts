import { afterEach, expect, test } from 'bun:test';
import { constants, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { systemFs } from './fs.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const folder = temporaryFolder();
const path = join(folder, 'file');
afterEach(() => rmSync(path, { force: true }));

const bytes = (text: string) => Buffer.from(text);

test('writes go to their offset, and the room stays behind them', async () => {
  const file = await systemFs.openRoom(path);
  await file.extend(16);
  await file.write(0, bytes('abcd'));
  await file.writeThrough(2, bytes('xyz'));
  await file.sync();
  expect(readFileSync(path, 'latin1')).toBe(`abxyz${'\0'.repeat(11)}`);
  await file.truncate(3);
  await file.extend(5);
  await file.close();
  expect(readFileSync(path, 'latin1')).toBe('abx\0\0');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('an existing file keeps its bytes, and room is never taken away by extend', async () => {
  writeFileSync(path, 'abc');
  const file = await systemFs.openRoom(path);
  await file.extend(2);
  await file.write(1, bytes('X'));
  await file.close();
  expect(readFileSync(path, 'latin1')).toBe('aXc');
});

test('room is made of blocks of the disk, not of a hole', async () => {
  const file = await systemFs.openRoom(path);
  await file.extend(200_000);
  await file.sync();
  await file.close();
  expect(statSync(path).size).toBe(200_000);
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(200_000);
});

test.skipIf(process.platform !== 'linux')('one of two descriptors writes through to the device', async () => {
  const file = await systemFs.openRoom(path);
  const flags = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    const info = infoOf(descriptor);
    return info === undefined ? [] : [info];
  });
  await file.close();
  expect(flags).toHaveLength(2);
  expect(flags.filter((each) => (each & constants.O_DSYNC) !== 0)).toHaveLength(1);
});

/** Returns the flags of a descriptor of `path`. */
function infoOf(descriptor: string): number | undefined {
  try {
    const { ino } = statSync(`/proc/self/fd/${descriptor}`);
    if (ino !== statSync(path).ino) return undefined;
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return Number.parseInt(/flags:\s*(\d+)/.exec(info)?.[1] ?? '', 8);
  } catch {
    return undefined;
  }
}

test('a held file knows when another file got its name, and when its name was removed', async () => {
  await systemFs.createNew(path, bytes('one'));
  const held = await systemFs.openLock(path);
  expect(held.isReplaced()).toBe(false);
  await systemFs.createNew(`${path}.2`, bytes('two'));
  await systemFs.rename(`${path}.2`, path);
  expect(held.isReplaced()).toBe(true);
  held.close();
  const next = await systemFs.openLock(path);
  expect(next.isReplaced()).toBe(false);
  await systemFs.remove(path);
  expect(next.isReplaced()).toBe(true);
  next.close();
  expect(await rejectionOf(systemFs.openLock(path))).toMatchObject({ code: 'ENOENT' });
});

test('a closed room leaves no descriptor open', async () => {
  const before = readdirSync('/dev/fd').length;
  const file = await systemFs.openRoom(path);
  expect(readdirSync('/dev/fd').length).toBeGreaterThan(before);
  await file.close();
  expect(readdirSync('/dev/fd').length).toBe(before);
});
