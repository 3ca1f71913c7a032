/**
 * Sends messages that are too long for a frame through files: the frame contains the file's name, and the file contains
 * the message. The folder belongs to one channel. Only names in our own format are accepted, and only regular files of
 * bounded size are read, because the other side may be bundle code.
 */
import { GoondanError } from '@goondan/types';
import { newUuid } from '../../ports/ids.ts';
import { writeFailure } from '../../ports/coded-fs.ts';

/**
 * `node:fs` is loaded with the first long message, because loading it costs 2 ms and 3 MB, and few processes need it.
 */
const disk = () => process.getBuiltinModule('node:fs');

export interface FrameFiles {
  /** Stores the message under a new name. Throws `E_DISK_FULL`, `E_STORE_WRITE`. */
  store(message: Uint8Array): string;
  /** Reads the message and removes its file. Throws `E_IPC_FRAME`, `E_IPC_SIZE`. */
  take(name: string, longest: number): Uint8Array;
  /** Removes the folder and all unread messages. */
  remove(): void;
}

export function frameFolder(folder: string): FrameFiles {
  return {
    store(message) {
      const name = `${newUuid()}.json`;
      const path = `${folder}/${name}`;
      try {
        disk().mkdirSync(folder, { recursive: true, mode: 0o700 });
        // `wx` fails if the file exists, so nothing is written through a link.
        disk().writeFileSync(path, message, { flag: 'wx', mode: 0o600 });
      } catch (error) {
        removeFile(path);
        throw writeFailure(folder, error);
      }
      return name;
    },
    take(name, longest) {
      if (!nameOfOurs.test(name))
        throw new GoondanError('E_IPC_FRAME', 'A frame names a file that no process of this swarm has written.');
      const path = `${folder}/${name}`;
      try {
        return readPlainFile(path, longest);
      } finally {
        removeFile(path);
      }
    },
    remove: () => disk().rmSync(folder, { recursive: true, force: true }),
  };
}

const nameOfOurs = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.json$/;

/** Reads a regular file without following a link. **Errors** — `E_IPC_FRAME`, `E_IPC_SIZE`, those of the disk. */
export function readPlainFile(path: string, longest: number): Uint8Array {
  const { closeSync, fstatSync, readSync } = disk();
  const file = open(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new GoondanError('E_IPC_FRAME', 'A frame names something that is not a file.');
    if (stat.size > longest) throw tooLong(stat.size, longest);
    const bytes = new Uint8Array(stat.size);
    let read = 0;
    while (read < bytes.length) {
      const more = readSync(file, bytes, read, bytes.length - read, read);
      if (more === 0) break;
      read += more;
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  const { constants, openSync } = disk();
  // Does not follow links, and does not block at a pipe.
  const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return openSync(path, readOnly);
  } catch (error) {
    throw new GoondanError('E_IPC_FRAME', 'A frame names a file that cannot be opened.', { cause: error });
  }
}

function removeFile(path: string): void {
  try {
    disk().unlinkSync(path);
  } catch {
    // A file that cannot be removed now is removed with the channel's folder.
  }
}

export function tooLong(size: number, longest: number): GoondanError {
  return new GoondanError('E_IPC_SIZE', `A message has ${size} bytes; ${longest} are allowed.`);
}
