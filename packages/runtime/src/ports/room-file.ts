/**
 * Files with room, and held files, on the real disk.
 *
 * `writeThrough` uses a second descriptor with O_DSYNC, because the flag belongs to the descriptor and would make every
 * `write` wait for the device. Into room that was filled with zeros and synced before, such a write is one request to
 * the device: ext4 has neither a size nor an extent to change. Elsewhere than on Linux the flag does not empty the cache
 * of the device, so `writeThrough` is a write and a sync there.
 */
import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { HeldFile, RoomFile } from './fs.ts';

const isLinux = process.platform === 'linux';
const ZEROS = new Uint8Array(64 * 1024);

export function openSystemRoom(path: string, mode: number): RoomFile {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, mode);
  const through = isLinux ? openThrough(path, descriptor) : undefined;
  const sync = () => syncDescriptor(descriptor);
  return {
    write: (at, bytes) => writeAt(descriptor, at, bytes),
    writeThrough(at, bytes) {
      writeAt(through ?? descriptor, at, bytes);
      return through === undefined ? sync() : undefined;
    },
    async extend(size) {
      // Zeros are written, because a hole would get its extents only later, with the bytes that need them.
      for (let at = fstatSync(descriptor).size; at < size; at += ZEROS.length)
        writeAt(descriptor, at, ZEROS.subarray(0, Math.min(ZEROS.length, size - at)));
    },
    truncate: async (size) => ftruncateSync(descriptor, size),
    sync,
    async close() {
      closeSync(descriptor);
      if (through !== undefined) closeSync(through);
    },
  };
}

function openThrough(path: string, descriptor: number): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_DSYNC);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export function openSystemLock(path: string): HeldFile {
  const descriptor = openSync(path, 'r');
  return { isReplaced: () => fstatSync(descriptor).nlink === 0, close: () => closeSync(descriptor) };
}

function writeAt(descriptor: number, at: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written, at + written);
}

function syncDescriptor(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => fdatasync(descriptor, (error) => (error ? reject(error) : resolve())));
}
