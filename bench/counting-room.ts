/**
 * Counts the writes of a file with room. A write that goes through to the device is a write and a sync. The zeros that
 * fill the room are counted apart from the bytes of the log.
 */
import type { RoomFile } from '../packages/runtime/src/ports/fs.ts';
import type { DiskCounts } from './counting-fs.ts';

/** `size`: the size of the file when it is opened. */
export function countingRoom(file: RoomFile, size: number, counts: DiskCounts, isReal: boolean): RoomFile {
  let filled = size;
  const countWrite = (bytes: Uint8Array) => {
    counts.writes++;
    counts.bytes += bytes.byteLength;
  };
  return {
    write(at, bytes) {
      countWrite(bytes);
      return file.write(at, bytes);
    },
    writeThrough(at, bytes) {
      countWrite(bytes);
      counts.syncs++;
      return isReal ? file.writeThrough(at, bytes) : file.write(at, bytes);
    },
    extend(to) {
      counts.writes++;
      counts.zeros += Math.max(0, to - filled);
      filled = Math.max(filled, to);
      return file.extend(to);
    },
    truncate(to) {
      filled = to;
      return file.truncate(to);
    },
    async sync() {
      counts.syncs++;
      if (isReal) await file.sync();
    },
    close: () => file.close(),
  };
}
