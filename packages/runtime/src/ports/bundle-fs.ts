/**
 * The disk, with the operations that a folder of people needs, such as a bundle: links are seen and not followed, files
 * keep their permissions, and a folder is removed only if it is empty.
 */
import { chmodSync, constants, lstatSync, mkdirSync, openSync, rmdirSync } from 'node:fs';
import { type Fs, type OpenFile, systemFile, systemFs } from './fs.ts';

/** A name in a folder. */
export interface NamedEntry {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  /** The permission bits. */
  readonly mode: number;
}

export interface BundleFs extends Fs {
  /** Describes a name without following a link; `undefined` when nothing has this name. */
  look(path: string): Promise<NamedEntry | undefined>;
  /** Like `makeFolder`, with the permissions that new folders of this person have. */
  makeSharedFolder(path: string): Promise<void>;
  /** Like `openFile`, with the permissions that new files of this person have. Rejects if the name is a link. */
  openSharedFile(path: string): Promise<OpenFile>;
  setMode(path: string, mode: number): Promise<void>;
  /** Removes a folder. Does nothing when the folder has contents or does not exist. */
  removeEmptyFolder(path: string): Promise<void>;
}

const PERMISSIONS = 0o7777;

export const systemBundleFs: BundleFs = {
  ...systemFs,
  async look(path) {
    const found = unless(['ENOENT', 'ENOTDIR'], () => lstatSync(path));
    if (found === undefined) return undefined;
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other';
    return { kind, size: found.size, mode: found.mode & PERMISSIONS };
  },
  makeSharedFolder: async (path) => unless(['EEXIST'], () => mkdirSync(path)),
  async openSharedFile(path) {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    return systemFile(openSync(path, flags, 0o666));
  },
  setMode: async (path, mode) => chmodSync(path, mode),
  removeEmptyFolder: async (path) => unless(['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'], () => rmdirSync(path)),
};

/** Returns `undefined` if the action fails with one of these codes. */
function unless<Value>(codes: readonly string[], action: () => Value): Value | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return undefined;
    throw error;
  }
}
