/** A disk that waits before every operation, so that others can work between any two operations of a reader or a writer. */
import type { Fs, OpenFile, RoomFile } from '../../ports/fs.ts';

/** `pause` is awaited before every operation, and gets its name and path. */
export function pausedFs(fs: Fs, pause: (operation: string, path: string) => Promise<void>): Fs {
  const later: Later = async (operation, path, action) => {
    await pause(operation, path);
    return action();
  };
  const paused: Fs = {
    read: (path, from, length) => later('read', path, () => fs.read(path, from, length)),
    stat: (path) => later('stat', path, () => fs.stat(path)),
    isLink: (path) => later('isLink', path, () => fs.isLink(path)),
    list: (path) => later('list', path, () => fs.list(path)),
    makeFolder: (path) => later('makeFolder', path, () => fs.makeFolder(path)),
    openFile: async (path) => pausedFile(await later('openFile', path, () => fs.openFile(path)), path, later),
    openRoom: async (path) => pausedRoom(await later('openRoom', path, () => fs.openRoom(path)), path, later),
    openLock: (path) => later('openLock', path, () => fs.openLock(path)),
    createNew: (path, bytes) => later('createNew', path, () => fs.createNew(path, bytes)),
    rename: (from, to) => later('rename', to, () => fs.rename(from, to)),
    remove: (path) => later('remove', path, () => fs.remove(path)),
    /** Removes one name after the other, as the system does. */
    async removeFolder(path) {
      for (const name of (await fs.list(path)) ?? []) {
        const inside = `${path}/${name}`;
        const names = await fs.list(inside).catch(() => undefined);
        await (names === undefined ? paused.remove(inside) : paused.removeFolder(inside));
      }
      await later('removeFolder', path, () => fs.removeFolder(path));
    },
    syncFolder: (path) => later('syncFolder', path, () => fs.syncFolder(path)),
  };
  return paused;
}

type Later = <T>(operation: string, path: string, action: () => Promise<T> | T) => Promise<T>;

function pausedFile(file: OpenFile, path: string, later: Later): OpenFile {
  return {
    append: (bytes) => later('append', path, () => file.append(bytes)),
    truncate: (size) => later('truncate', path, () => file.truncate(size)),
    sync: () => later('sync', path, () => file.sync()),
    close: () => file.close(),
  };
}

function pausedRoom(room: RoomFile, path: string, later: Later): RoomFile {
  return {
    write: (at, bytes) => later('write', path, () => room.write(at, bytes)),
    writeThrough: (at, bytes) => later('writeThrough', path, () => room.writeThrough(at, bytes)),
    extend: (size) => later('extend', path, () => room.extend(size)),
    truncate: (size) => later('truncate', path, () => room.truncate(size)),
    sync: () => later('sync', path, () => room.sync()),
    close: () => room.close(),
  };
}
