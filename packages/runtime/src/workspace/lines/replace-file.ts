/**
 * Puts new contents in the place of old ones, so that a crash leaves one or the other. In two halves, because what
 * belongs to one commit is prepared side by side and only then takes its place.
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
    // A crash may have left one.
    await file.truncate(0);
    await file.append(bytes);
    // Without this the name could arrive on the disk before the bytes.
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Durable when it resolves; when it rejects, either contents may be there after a loss of power. */
export async function putInPlace(fs: Fs, path: string): Promise<void> {
  await fs.rename(nextOf(path), path);
  // Without this a loss of power could bring the old contents back.
  await fs.syncFolder(dirname(path));
}
