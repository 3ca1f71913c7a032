import { constants, openSync, type Stats } from 'node:fs';
import { fileError } from './file-error.ts';
import type { Found } from './walk.ts';

/** Opens a regular file for reading; never blocks. */
export function openRegular(found: Found | undefined, path: string): number {
  if (found === undefined) throw fileError('E_FILE_MISSING', path, 'does not exist');
  if (!found.stats.isFile()) throw fileError('E_FILE_KIND', path, `is ${kindOf(found.stats)}, not a file`);
  // If the file is not held open, a link may have taken its place meanwhile. That link must not be followed.
  return openSync(found.reach, constants.O_RDONLY | constants.O_NONBLOCK | (found.isHeld ? 0 : constants.O_NOFOLLOW));
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
