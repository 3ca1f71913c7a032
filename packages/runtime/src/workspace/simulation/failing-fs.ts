/**
 * Simulated disks that fail. Either the process continues after the failure, or one process dies and others continue.
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { Fs, OpenFile, RoomFile } from '../../ports/fs.ts';
import type { SimulatedRoom } from './simulated-disk.ts';

/** Called before every operation. If it throws, the operation rejects with that error. */
export type Trouble = (operation: string) => void;

/** Creates a disk that fails when `trouble` throws. A failing write still writes its first half, as on a full disk. */
export function failingFs(fs: Fs, trouble: Trouble): Fs {
  const meet = meeting(trouble);
  return {
    read: (path, from, length) => meet('read', () => fs.read(path, from, length)),
    stat: (path) => meet('stat', () => fs.stat(path)),
    isLink: (path) => meet('isLink', () => fs.isLink(path)),
    list: (path) => meet('list', () => fs.list(path)),
    makeFolder: (path) => meet('makeFolder', () => fs.makeFolder(path)),
    openFile: (path) => meet('openFile', async () => failingFile(await fs.openFile(path), trouble)),
    openRoom: (path) => meet('openRoom', async () => failingRoom(await fs.openRoom(path), trouble)),
    openLock: (path) => meet('openLock', () => fs.openLock(path)),
    createNew: (path, bytes) => meet('createNew', () => fs.createNew(path, bytes)),
    rename: (from, to) => meet('rename', () => fs.rename(from, to)),
    remove: (path) => meet('remove', () => fs.remove(path)),
    removeFolder: (path) => meet('removeFolder', () => fs.removeFolder(path)),
    syncFolder: (path) => meet('syncFolder', () => fs.syncFolder(path)),
  };
}

/** Like `failingFs`, for the disk of a bundle. */
export function failingBundleFs(fs: BundleFs, trouble: Trouble): BundleFs {
  const meet = meeting(trouble);
  return {
    ...failingFs(fs, trouble),
    look: (path) => meet('look', () => fs.look(path)),
    makeSharedFolder: (path) => meet('makeSharedFolder', () => fs.makeSharedFolder(path)),
    openSharedFile: (path) => meet('openSharedFile', async () => failingFile(await fs.openSharedFile(path), trouble)),
    setMode: (path, mode) => meet('setMode', () => fs.setMode(path, mode)),
    removeEmptyFolder: (path) => meet('removeEmptyFolder', () => fs.removeEmptyFolder(path)),
  };
}

function meeting(trouble: Trouble) {
  return <T>(operation: string, action: () => Promise<T>): Promise<T> => {
    try {
      trouble(operation);
    } catch (error) {
      return Promise.reject(error);
    }
    return action();
  };
}

const GROWING = ['write', 'writeThrough', 'extend'];

function failingFile(file: OpenFile, trouble: Trouble): OpenFile {
  return {
    async append(bytes) {
      try {
        trouble('append');
      } catch (error) {
        await file.append(bytes.subarray(0, bytes.length >> 1));
        throw error;
      }
      await file.append(bytes);
    },
    async truncate(size) {
      trouble('truncate');
      await file.truncate(size);
    },
    async sync() {
      trouble('sync');
      await file.sync();
    },
    close: () => file.close(),
  };
}

type RoomWrite = () => ReturnType<RoomFile['write']>;

/** A write into a room and the growth of a room are also an `append`, because both need free space and make a file longer. */
function failingRoom(room: RoomFile, told: Trouble): RoomFile {
  const trouble = (operation: string) => {
    told(operation);
    if (GROWING.includes(operation)) told('append');
  };
  /** Does half of a write when `trouble` throws, and then rejects. */
  const halve = async (operation: string, half: RoomWrite, whole: RoomWrite) => {
    try {
      trouble(operation);
    } catch (error) {
      await half();
      throw error;
    }
    await whole();
  };
  const halfOf = (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1);
  return {
    write: (at, bytes) =>
      halve(
        'write',
        () => room.write(at, halfOf(bytes)),
        () => room.write(at, bytes),
      ),
    writeThrough: (at, bytes) =>
      halve(
        'writeThrough',
        async () => {
          await room.write(at, halfOf(bytes));
          failToSync(room);
        },
        () => room.writeThrough(at, bytes),
      ),
    async extend(size) {
      trouble('extend');
      await room.extend(size);
    },
    async truncate(size) {
      trouble('truncate');
      await room.truncate(size);
    },
    async sync() {
      try {
        trouble('sync');
      } catch (error) {
        failToSync(room);
        throw error;
      }
      await room.sync();
    },
    close: () => room.close(),
  };
}

function failToSync(room: RoomFile & Partial<Pick<SimulatedRoom, 'failToSync'>>): void {
  room.failToSync?.();
}

/** Creates an error like those of the operating system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code });
}
