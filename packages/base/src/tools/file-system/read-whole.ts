import { closeSync, readFileSync } from 'node:fs';
import { fileError, fromSystem } from './file-error.ts';
import { openRegular } from './open-regular.ts';
import type { Walked } from './walk.ts';

/** Reads a whole text file of at most `limit` bytes. */
export function readWhole(walked: Walked, path: string, limit: number): string {
  const descriptor = openRegular(walked.found, path);
  try {
    const size = walked.found?.stats.size ?? 0;
    if (size > limit) throw fileError('E_FILE_LIMIT', path, `has ${size} bytes; at most ${limit} are allowed`);
    // The decoder throws for invalid bytes, because an edit would write replacement characters back to the file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor));
  } catch (error) {
    if (error instanceof TypeError) throw fileError('E_FILE_TEXT', path, 'is not a text file', error);
    throw fromSystem(path, error);
  } finally {
    closeSync(descriptor);
  }
}
