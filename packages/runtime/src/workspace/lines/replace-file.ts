/**
 * Replaces the contents of a file atomically: after a crash the file has the old or the new contents. Replacing has two
 * steps, so that all files of one commit are prepared before the first one is renamed.
 */
import { dirname } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { nextOf } from '../layout/instance-paths.ts';

export async function replaceFile(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  await prepareFile(fs, path, bytes);
  await putInPlace(fs, path);
}

/** Writes `<path>.next`. */
export async function prepareFile(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.openFile(nextOf(path));
  try {
    // A crash may have left a longer file with this name.
    await file.truncate(0);
    await file.append(bytes);
    // Without this sync, the rename could reach the disk before the bytes.
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Renames the prepared file to `path`; durable when it resolves. If it rejects, a power loss may leave the old or the
 * new contents.
 */
export async function putInPlace(fs: Fs, path: string): Promise<void> {
  await fs.rename(nextOf(path), path);
  // Without this sync, a power loss could undo the rename.
  await fs.syncFolder(dirname(path));
}
