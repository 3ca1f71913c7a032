/**
 * The real file system, which counts syncs, writes, written bytes and new files. With `syncs: 'left out'`, a sync is
 * counted but not made, because its time depends only on the disk. ext4 writes out an unsynced file when the file
 * replaces another one by a rename. Therefore, this file system removes the replaced file first, and the rename does not
 * pay for the sync that was left out.
 */
import { existsSync, rmSync } from 'node:fs';
import { type Fs, type OpenFile, systemFs } from '../packages/runtime/src/ports/fs.ts';
import { countingRoom } from './counting-room.ts';

export interface DiskCounts {
  syncs: number;
  writes: number;
  bytes: number;
  /** Files that did not exist before. */
  files: number;
  /** Bytes of zeros that make room for later writes. */
  zeros: number;
}

export interface CountingFs extends Fs {
  readonly counts: DiskCounts;
}

export interface CountingOptions {
  readonly syncs: 'real' | 'left out';
}

export function countingFs({ syncs }: CountingOptions, disk: Fs = systemFs): CountingFs {
  const counts: DiskCounts = { syncs: 0, writes: 0, bytes: 0, files: 0, zeros: 0 };
  const isReal = syncs === 'real';
  const countWrite = (bytes: Uint8Array) => {
    counts.writes++;
    counts.bytes += bytes.byteLength;
  };
  const sync = async (make: () => Promise<void>) => {
    counts.syncs++;
    if (isReal) await make();
  };
  const countNew = (path: string) => {
    if (!existsSync(path)) counts.files++;
  };
  return {
    ...disk,
    counts,
    async openRoom(path) {
      countNew(path);
      const size = (await disk.stat(path))?.size ?? 0;
      return countingRoom(await disk.openRoom(path), size, counts, isReal);
    },
    async openFile(path): Promise<OpenFile> {
      countNew(path);
      const file = await disk.openFile(path);
      return {
        append(bytes) {
          countWrite(bytes);
          return file.append(bytes);
        },
        truncate: (size) => file.truncate(size),
        sync: () => sync(() => file.sync()),
        close: () => file.close(),
      };
    },
    createNew(path, bytes) {
      countNew(path);
      countWrite(bytes);
      return disk.createNew(path, bytes);
    },
    rename(from, to) {
      if (!isReal) rmSync(to, { force: true });
      return disk.rename(from, to);
    },
    syncFolder: (path) => sync(() => disk.syncFolder(path)),
  };
}

/** Counts what `use` does on the disk, per one of its `times` operations. */
export async function countPer(fs: CountingFs, times: number, use: () => Promise<void>): Promise<DiskCounts> {
  const before = { ...fs.counts };
  for (let time = 0; time < times; time++) await use();
  const per = (name: keyof DiskCounts) => (fs.counts[name] - before[name]) / times;
  return { syncs: per('syncs'), writes: per('writes'), bytes: per('bytes'), files: per('files'), zeros: per('zeros') };
}

export function describeCounts({ syncs, writes, bytes, files, zeros }: DiskCounts): string {
  const number = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
  const room = zeros === 0 ? '' : `, ${Math.round(zeros)} bytes of zeros for room`;
  return `${number(syncs)} syncs, ${number(writes)} writes, ${Math.round(bytes)} bytes, ${number(files)} new files${room}`;
}
