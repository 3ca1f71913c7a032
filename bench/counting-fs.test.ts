import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fs, type RoomFile, systemFs } from '../packages/runtime/src/ports/fs.ts';
import { type CountingFs, countingFs, countPer, describeCounts } from './counting-fs.ts';

describe('a file system that counts', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'goondan-counting-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(['real', 'left out'] as const)('counts syncs, writes, bytes and new files; syncs are %s', async (syncs) => {
    const fs = countingFs({ syncs });
    const counts = await countPer(fs, 2, () => write(fs, join(folder, syncs)));
    expect(counts).toEqual({ syncs: 2, writes: 2, bytes: 5, files: 1, zeros: 0 });
    expect(describeCounts(counts)).toBe('2 syncs, 2 writes, 5 bytes, 1 new files');
    expect(new TextDecoder().decode(await fs.read(join(folder, syncs)))).toBe('12345');
  });

  test('a file that exists is not counted as new', async () => {
    const fs = countingFs({ syncs: 'left out' });
    const path = join(folder, 'kept');
    await fs.createNew(path, new Uint8Array(1));
    await (await fs.openFile(path)).close();
    expect(fs.counts.files).toBe(1);
  });

  test.each([
    ['real', ['sync', 'syncFolder']],
    ['left out', []],
  ] as const)('syncs that are %s reach the disk as %p', async (syncs, expected) => {
    const made: string[] = [];
    const disk: Fs = {
      ...systemFs,
      openFile: async (path) => ({ ...(await systemFs.openFile(path)), sync: async () => void made.push('sync') }),
      syncFolder: async () => void made.push('syncFolder'),
    };
    await write(countingFs({ syncs }, disk), join(folder, `reaching ${syncs}`));
    expect(made).toEqual([...expected]);
  });

  test('without syncs, a rename finds no file that it would replace', async () => {
    const replaced: boolean[] = [];
    const rename: Fs['rename'] = (from, to) => {
      replaced.push(existsSync(to));
      return systemFs.rename(from, to);
    };
    for (const syncs of ['real', 'left out'] as const) {
      const path = join(folder, `replaced ${syncs}`);
      await systemFs.createNew(path, new Uint8Array(1));
      await write(countingFs({ syncs }, { ...systemFs, rename }), path);
    }
    expect(replaced).toEqual([true, false]);
  });

  test.each([
    ['real', ['extend', 'sync', 'write', 'writeThrough']],
    ['left out', ['extend', 'write', 'write']],
  ] as const)('counts writes into room; syncs are %s', async (syncs, expected) => {
    const made: string[] = [];
    const does = (name: string) => async () => void made.push(name);
    const disk = {
      ...systemFs,
      stat: async () => ({ size: 10, identity: '', changedAt: 0 }),
      openRoom: async (_path: string) => ({
        write: does('write'),
        writeThrough: does('writeThrough'),
        extend: does('extend'),
        truncate: does('truncate'),
        sync: does('sync'),
        close: does('close'),
      }),
    };
    const fs = countingFs({ syncs }, disk) as CountingFs & typeof disk;
    const counts = await countPer(fs, 1, async () => {
      const room: RoomFile = await fs.openRoom(join(folder, 'room'));
      await room.extend(100);
      await room.sync();
      await room.write(10, new Uint8Array(3));
      await room.writeThrough(13, new Uint8Array(4));
    });
    expect(counts).toEqual({ syncs: 2, writes: 3, bytes: 7, files: 1, zeros: 90 });
    expect(made).toEqual([...expected]);
  });

  /** Writes a draft of five bytes, syncs it, and renames it over `path`. */
  async function write(fs: CountingFs, path: string): Promise<void> {
    const file = await fs.openFile(`${path}.next`);
    await file.append(new TextEncoder().encode('123'));
    await file.append(new TextEncoder().encode('45'));
    await file.sync();
    await file.close();
    await fs.rename(`${path}.next`, path);
    await fs.syncFolder(folder);
  }
});
