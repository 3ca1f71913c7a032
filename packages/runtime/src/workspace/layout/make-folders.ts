import { dirname } from 'node:path';
import type { Fs } from '../../ports/fs.ts';

/**
 * Makes a folder and its missing parents. All directory entries from `root` down are durable when it resolves. Existing
 * folders are synced too, because the process that made them may have died before its sync.
 */
export async function makeFolders(fs: Fs, root: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent === path) return;
  const isThere = (await fs.stat(path)) !== undefined;
  if (isThere && path.length < root.length) return;
  await makeFolders(fs, root, parent);
  if (!isThere) await fs.makeFolder(path);
  await fs.syncFolder(parent);
}

/**
 * Makes a folder below `folder` and its missing parents, and makes their directory entries durable. Never makes `folder`
 * itself: a late writer must not bring back a state root that a person has deleted.
 */
export async function makeFoldersBelow(fs: Fs, folder: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent !== folder) await makeFoldersBelow(fs, folder, parent);
  await fs.makeFolder(path);
  await fs.syncFolder(parent);
}
