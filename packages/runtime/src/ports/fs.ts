/**
 * The disk is passed as a parameter, so that a test can simulate a power loss.
 *
 * An implementation guarantees the following, and callers may rely on nothing else:
 * 1. The bytes of a file survive a power loss once `sync` of that file has resolved.
 * 2. A name (created, renamed, removed) survives once `syncFolder` of its folder has resolved.
 * 3. A rename is atomic.
 * 4. The bytes of a `writeThrough` survive a power loss once it has resolved, if they are in room that was synced. Other
 *    bytes of the file may still be lost.
 * 5. Until then, a power loss may keep any blocks of 512 bytes of the unsynced writes into a room, in any order. The
 *    other blocks have older bytes or zeros. Bytes that no unsynced write changes keep their values.
 * 6. A killed process loses no completed write. Its last write may be partial.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rm,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { newUuid } from './ids.ts';
import { openSystemLock, openSystemRoom } from './room-file.ts';

/** A file open for writing. */
export interface OpenFile {
  /** Writes all bytes at the end of the file. After a rejection, it is unknown how much was written. */
  append(bytes: Uint8Array): Promise<void>;
  truncate(size: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file with room: zeros at its end, into which later bytes are written. Such a write changes neither the size nor the
 * place of the file, so the device has to store the bytes and nothing else.
 */
export interface RoomFile {
  /**
   * Writes at an offset inside the room. After an error, it is unknown how much was written. Without a promise, the
   * bytes are written when it returns.
   */
  write(at: number, bytes: Uint8Array): Promise<void> | void;
  /** Like `write`; exactly these bytes are durable when it is done. May block the thread until then. */
  writeThrough(at: number, bytes: Uint8Array): Promise<void> | void;
  /** Fills the file up to this size with zeros. Not durable before `sync`. */
  extend(size: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Makes all completed changes of this file durable, those of other processes included. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that is held open to see whether another file got its name. */
export interface HeldFile {
  /** Returns true once the file has no name any more. It is cheap enough to be called before every write. */
  isReplaced(): boolean;
  close(): void;
}

export interface FileStat {
  readonly size: number;
  readonly identity: string;
  readonly changedAt: number;
}

/**
 * The disk. **Errors** — where a result can be `undefined`, a missing file or folder is not an error. All other
 * failures reject with an error that has a `code`.
 */
export interface Fs {
  /**
   * Reads at most `length` bytes, from the offset `from` or else from the start; `undefined` when the file does not
   * exist. Rejects anything but a regular file.
   */
  read(path: string, from?: number, length?: number): Promise<Uint8Array | undefined>;
  /**
   * Returns size, identity and the time of the last change in milliseconds; `undefined` when the file does not exist.
   * `identity` changes when another file gets this name. The time may have the resolution of a tick of the system.
   */
  stat(path: string): Promise<FileStat | undefined>;
  /** Returns true if the name is a symbolic link. `stat` and `list` follow it. */
  isLink(path: string): Promise<boolean>;
  /** Lists the names in a folder, in no particular order; `undefined` when the folder does not exist. */
  list(path: string): Promise<string[] | undefined>;
  /** Makes one folder; its parent must exist. Does nothing when the folder exists. */
  makeFolder(path: string): Promise<void>;
  /** Opens the file, and creates it if it does not exist. */
  openFile(path: string): Promise<OpenFile>;
  /** Opens the file for writes into its room, and creates it if it does not exist. */
  openRoom(path: string): Promise<RoomFile>;
  /** Holds a file open. Rejects when the file does not exist. */
  openLock(path: string): Promise<HeldFile>;
  /** Creates the file with all these bytes atomically. Returns false when the name exists. */
  createNew(path: string, bytes: Uint8Array): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file. Does nothing when the file does not exist. */
  remove(path: string): Promise<void>;
  /**
   * Removes a folder with its contents, in no particular order and not atomically. Does nothing when the folder does
   * not exist.
   */
  removeFolder(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * The real disk. Reads and writes are synchronous: they use the page cache and take microseconds, less than passing
 * them to a thread would take. A sync waits for the device, so it is asynchronous.
 */
export const systemFs: Fs = {
  async read(path, from = 0, length) {
    // Without `O_NONBLOCK`, opening a pipe that has no writer would block.
    const descriptor = unlessMissing(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    if (descriptor === undefined) return undefined;
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile() && !stat.isDirectory()) throw notRegular(path);
      const rest = Math.max(0, stat.size - from);
      return readFully(descriptor, from, Math.min(rest, length ?? rest));
    } finally {
      closeSync(descriptor);
    }
  },
  async stat(path) {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && { size: stat.size, identity: `${stat.dev}:${stat.ino}`, changedAt: stat.ctimeMs };
  },
  isLink: async (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  list: async (path) => unlessMissing(() => readdirSync(path)),
  async makeFolder(path) {
    try {
      mkdirSync(path, { mode: FOLDER_MODE });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  },
  openFile: async (path) => systemFile(openSync(path, 'a', FILE_MODE)),
  openRoom: async (path) => openSystemRoom(path, FILE_MODE),
  openLock: async (path) => openSystemLock(path),
  async createNew(path, bytes) {
    const draft = `${path}.${newUuid()}`;
    const descriptor = openSync(draft, 'wx', FILE_MODE);
    try {
      writeFully(descriptor, bytes);
      linkSync(draft, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      closeSync(descriptor);
      rmSync(draft, { force: true });
    }
  },
  rename: async (from, to) => renameSync(from, to),
  remove: async (path) => rmSync(path, { force: true }),
  // This is asynchronous, because a folder may contain many files.
  removeFolder: (path) => settled((done) => rm(path, { recursive: true, force: true }, done)),
  async syncFolder(path) {
    const descriptor = openSync(path, 'r');
    try {
      await settled((done) => fsync(descriptor, done));
    } finally {
      closeSync(descriptor);
    }
  },
};

export function systemFile(descriptor: number): OpenFile {
  return {
    append: async (bytes) => writeFully(descriptor, bytes),
    truncate: async (size) => ftruncateSync(descriptor, size),
    sync: () => settled((done) => fdatasync(descriptor, done)),
    close: async () => closeSync(descriptor),
  };
}

/** Reads this many bytes, or fewer at the end of the file. */
export function readFully(descriptor: number, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled === length ? bytes : bytes.subarray(0, filled);
}

function writeFully(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written);
}

function settled(start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function notRegular(path: string): Error {
  return Object.assign(new Error(`EINVAL: not a regular file, read '${path}'`), { code: 'EINVAL' });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
