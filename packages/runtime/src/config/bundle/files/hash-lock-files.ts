/** Hashes the lock files of package managers, because a changed lock file means that installed packages have changed. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestJson } from '../../../json/digest-json.ts';
import { sha256 } from '../../../json/sha256.ts';
import { unlessThrows } from '../../../ports/unless-throws.ts';

export const lockFiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'bun.lock',
  'bun.lockb',
  'yarn.lock',
  'pnpm-lock.yaml',
];
const hashedFiles = [...lockFiles, 'node_modules/.package-lock.json'];

/** Larger files are compared by size and time. */
const MOST_BYTES = 20 * 1024 * 1024;

/**
 * Returns a hash of the lock files in a folder, or in the nearest folder above that has one: imports find packages of
 * folders above, too. Returns `undefined` when there is no lock file.
 */
export function hashLockFiles(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = hashedFiles.flatMap((name) => {
      const content = hashFile(join(at, name));
      return content === undefined ? [] : [[name, content]];
    });
    if (found.length > 0) return digestJson(found);
    if (dirname(at) === at) return undefined;
  }
}

function hashFile(path: string): string | undefined {
  return unlessThrows(() => {
    const found = statSync(path);
    if (!found.isFile()) return undefined;
    return found.size > MOST_BYTES ? `${found.size} ${found.mtimeMs}` : sha256(readFileSync(path));
  });
}
