/**
 * The real file system, which counts every written byte and every sync. The syncs themselves are skipped, because their
 * time depends only on the disk. `measureSync` measures the time of one sync, and the benchmarks report it separately.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fs, systemFs } from '../packages/runtime/src/ports/fs.ts';
import { summarise } from './measure.ts';

export interface CountingFs extends Fs {
  bytes: number;
  syncs: number;
}

export function countingFs(): CountingFs {
  const sync = async () => {
    counting.syncs++;
  };
  const counting: CountingFs = {
    ...systemFs,
    bytes: 0,
    syncs: 0,
    async openFile(path) {
      const file = await systemFs.openFile(path);
      return {
        append(bytes) {
          counting.bytes += bytes.byteLength;
          return file.append(bytes);
        },
        truncate: (size) => file.truncate(size),
        sync,
        close: () => file.close(),
      };
    },
    async openRoom(path) {
      const room = await systemFs.openRoom(path);
      const write = (at: number, bytes: Uint8Array) => {
        counting.bytes += bytes.byteLength;
        return room.write(at, bytes);
      };
      return {
        ...room,
        write,
        writeThrough(at, bytes) {
          counting.syncs++;
          return write(at, bytes);
        },
        sync,
      };
    },
    createNew(path, bytes) {
      counting.bytes += bytes.byteLength;
      return systemFs.createNew(path, bytes);
    },
    syncFolder: sync,
  };
  return counting;
}

/**
 * Measures how long it takes to write and sync one line on this disk. Returns the median of many runs, in microseconds.
 */
export async function measureSync(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'goondan-sync-'));
  const file = await systemFs.openFile(join(folder, 'lines'));
  const line = new TextEncoder().encode(`${'x'.repeat(200)}\n`);
  const times: number[] = [];
  for (let round = 0; round < 100; round++) {
    await file.append(line);
    const startedAt = performance.now();
    await file.sync();
    times.push((performance.now() - startedAt) * 1_000);
  }
  await file.close();
  await rm(folder, { recursive: true, force: true });
  return summarise('sync', times).median;
}
