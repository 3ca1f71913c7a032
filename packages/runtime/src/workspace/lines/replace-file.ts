/**
 * Replaces the contents of a file, so that a crash leaves the old or the new ones. It has two halves: all files of one
 * commit are prepared side by side before the first is put in place.
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
    // A crash may have left a file with this name.
    await file.truncate(0);
    await file.append(bytes);
    // Without this sync the name could reach the disk before the bytes.
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Renames the prepared file into place; durable when it resolves. When it rejects, a loss of power may leave the old or
 * the new contents.
 */
export async function putInPlace(fs: Fs, path: string): Promise<void> {
  await fs.rename(nextOf(path), path);
  // Without this sync a loss of power could bring the old contents back.
  await fs.syncFolder(dirname(path));
}
