import { expect, test } from 'bun:test';
import { seededRandom } from './seeded-random.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const textOf = async (disk: SimulatedDisk, path: string) => {
  const bytes = await disk.read(path);
  return bytes && Buffer.from(bytes).toString();
};

/** Returns the possible contents of `/file` after a loss of power. */
async function outcomes(disk: SimulatedDisk): Promise<Set<string | undefined>> {
  const seen = new Set<string | undefined>();
  for (let seed = 0; seed < 300; seed += 1) seen.add(await textOf(disk.crash('power', seededRandom(seed)), '/file'));
  return seen;
}

test('synced bytes survive a loss of power, the rest may be lost, torn or have gaps', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await disk.syncFolder('/');
  await file.append(Buffer.from('ab'));
  await file.sync();
  expect(await outcomes(disk)).toEqual(new Set(['ab']));
  await file.append(Buffer.from('cd'));
  const seen = await outcomes(disk);
  for (const text of ['ab', 'abc', 'abcd', 'ab\0d', 'abc\0', 'ab\0\0']) expect(seen).toContain(text);
  for (const text of seen) expect(text?.startsWith('ab')).toBe(true);
});

test('an unsynced truncation may be undone', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await disk.syncFolder('/');
  await file.append(Buffer.from('ab'));
  await file.sync();
  await file.truncate(0);
  expect(await outcomes(disk)).toEqual(new Set(['ab', '']));
});

test('an unsynced name may be lost, together with its synced bytes', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await file.append(Buffer.from('ab'));
  await file.sync();
  expect(await outcomes(disk)).toEqual(new Set([undefined, 'ab']));
});

test('an unsynced rename may be undone, and may arrive before the bytes', async () => {
  const disk = SimulatedDisk.empty();
  for (const [path, text] of [
    ['/file', 'old'],
    ['/next', 'new'],
  ] as const) {
    await disk.createNew(path, Buffer.from(text));
  }
  await (await disk.openFile('/file')).sync();
  await disk.syncFolder('/');
  await disk.rename('/next', '/file');
  const seen = await outcomes(disk);
  for (const text of ['old', 'new', '', 'n']) expect(seen).toContain(text);
});

test('a kill loses nothing but may tear the last write', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await file.append(Buffer.from('ab'));
  await file.append(Buffer.from('cd'));
  const seen = new Set<string | undefined>();
  for (let seed = 0; seed < 100; seed += 1) seen.add(await textOf(disk.crash('kill', seededRandom(seed)), '/file'));
  expect(seen).toEqual(new Set(['ab', 'abc', 'abcd']));
  await disk.syncFolder('/');
  expect(await textOf(disk.crash('kill', seededRandom(1)), '/file')).toBe('abcd');
});

test('a crash changes neither the disk it started from nor other crashes of it', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await file.append(Buffer.from('abcdefgh'));
  await outcomes(disk);
  expect(await textOf(disk, '/file')).toBe('abcdefgh');
});

test('a sync covers the changes before its start', async () => {
  const disk = SimulatedDisk.empty();
  const file = await disk.openFile('/file');
  await disk.syncFolder('/');
  disk.syncTicks = () => 5;
  await file.append(Buffer.from('ab'));
  const syncing = file.sync();
  await file.append(Buffer.from('cd'));
  await syncing;
  const seen = await outcomes(disk);
  expect(seen).toContain('ab');
  expect(seen).toContain('abcd');
  expect(seen).not.toContain('');
});

test('a folder is renamed with its contents, removed one name after the other, and found at its path', async () => {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/old');
  await disk.makeFolder('/old/deep');
  const file = await disk.openFile('/old/deep/file');
  await file.append(Buffer.from('ab'));
  await disk.rename('/old', '/new');
  expect(await textOf(disk, '/old/deep/file')).toBeUndefined();
  expect(await textOf(disk, '/new/deep/file')).toBe('ab');
  await disk.makeFolder('/old');
  expect(await disk.list('/old')).toEqual([]);
  let operations = 0;
  disk.afterOperation = () => (operations += 1);
  await disk.removeFolder('/new');
  expect(operations).toBe(3);
  expect(await disk.list('/')).toEqual(['old']);
  await disk.removeFolder('/new');
});
