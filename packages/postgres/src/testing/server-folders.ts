/**
 * Where test servers keep their data: in memory if this machine has a folder for it, as Linux has. Each database of a test
 * is 300 files that exist for a second, and a disk may need more processor time for them than the server.
 */
import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

export function serverFolders(): string {
  return isUsable() ? IN_MEMORY : tmpdir();
}

/** The server's programs may be copied into its folder, so programs must be able to run there. */
function isUsable(): boolean {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const [, , type, options = ''] = mounts.map((line) => line.split(' ')).find(([, path]) => path === IN_MEMORY) ?? [];
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return type === 'tmpfs' && !options.split(',').includes('noexec') && bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}
