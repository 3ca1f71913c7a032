/**
 * Adds a code and a path to every disk error. An unreadable file is an error with a code, and never counts as a missing
 * file.
 */
import { GoondanError, type ErrorCode } from '@goondan/types';
import type { BundleFs } from './bundle-fs.ts';
import type { Fs, OpenFile, RoomFile } from './fs.ts';

export function codedFs(fs: Fs): Fs {
  return {
    read: (path, from, length) => reading(path, fs.read(path, from, length)),
    stat: (path) => reading(path, fs.stat(path)),
    isLink: (path) => reading(path, fs.isLink(path)),
    list: (path) => reading(path, fs.list(path)),
    makeFolder: (path) => writing(path, fs.makeFolder(path)),
    openFile: async (path) => codedFile(path, await writing(path, fs.openFile(path))),
    openRoom: async (path) => codedRoom(path, await writing(path, fs.openRoom(path))),
    openLock: (path) => reading(path, fs.openLock(path)),
    createNew: (path, bytes) => writing(path, fs.createNew(path, bytes)),
    rename: (from, to) => writing(to, fs.rename(from, to)),
    remove: (path) => writing(path, fs.remove(path)),
    removeFolder: (path) => writing(path, fs.removeFolder(path)),
    syncFolder: (path) => writing(path, fs.syncFolder(path)),
  };
}

export function codedBundleFs(fs: BundleFs): BundleFs {
  return {
    ...codedFs(fs),
    look: (path) => reading(path, fs.look(path)),
    makeSharedFolder: (path) => writing(path, fs.makeSharedFolder(path)),
    openSharedFile: async (path) => codedFile(path, await writing(path, fs.openSharedFile(path))),
    setMode: (path, mode) => writing(path, fs.setMode(path, mode)),
    removeEmptyFolder: (path) => writing(path, fs.removeEmptyFolder(path)),
  };
}

function codedFile(path: string, file: OpenFile): OpenFile {
  return {
    append: (bytes) => writing(path, file.append(bytes)),
    truncate: (size) => writing(path, file.truncate(size)),
    sync: () => writing(path, file.sync()),
    close: () => writing(path, file.close()),
  };
}

function codedRoom(path: string, room: RoomFile): RoomFile {
  return {
    write: (at, bytes) => writingNow(path, () => room.write(at, bytes)),
    writeThrough: (at, bytes) => writingNow(path, () => room.writeThrough(at, bytes)),
    extend: (size) => writing(path, room.extend(size)),
    truncate: (size) => writing(path, room.truncate(size)),
    sync: () => writing(path, room.sync()),
    close: () => writing(path, room.close()),
  };
}

function reading<T>(path: string, action: Promise<T>): Promise<T> {
  return action.catch((cause: unknown) => {
    throw new GoondanError('E_STORE_READ', `Cannot read ${path}: ${words(cause)}`, { cause });
  });
}

function writing<T>(path: string, action: Promise<T>): Promise<T> {
  return action.catch((cause: unknown) => {
    throw writeFailure(path, cause);
  });
}

/** Like `writing`, for an action that may be over when it returns. */
function writingNow(path: string, action: () => Promise<void> | void): Promise<void> | void {
  try {
    const running = action();
    return running && writing(path, running);
  } catch (cause) {
    throw writeFailure(path, cause);
  }
}

export function writeFailure(path: string, cause: unknown): GoondanError {
  return new GoondanError(writeCode(cause), `Cannot write ${path}: ${words(cause)}`, { cause });
}

function writeCode(error: unknown): ErrorCode {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'E_DISK_FULL' : 'E_STORE_WRITE';
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
