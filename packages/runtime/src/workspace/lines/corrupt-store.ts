import { basename, dirname, join } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { StorePorts } from '../store-ports.ts';

/** The number of different copies of one damaged file. A file that changes with each report must not fill the disk. */
const MOST_COPIES = 8;

/** Returns true if an error reports a damaged file. */
export function isCorrupt(error: unknown): error is GoondanError {
  return GoondanError.is(error) && error.code === 'E_STORE_CORRUPT';
}

/** Copies the damaged file aside and returns the error to throw. The original file stays unchanged. */
export async function corruptStore(ports: StorePorts, path: string, problem: string): Promise<GoondanError> {
  await ports.confirm?.(path, problem);
  let where: string;
  try {
    const copy = await quarantineFile(ports, path);
    where = copy === undefined ? 'there is no such file' : copy;
  } catch (error) {
    where = `no copy could be made: ${error instanceof Error ? error.message : String(error)}`;
  }
  return new GoondanError('E_STORE_CORRUPT', `${path} is damaged: ${problem} (${where})`);
}

/**
 * Copies a damaged file to `<name>.corrupt-<time>` and returns a text that says where the copy is. The original stays. If
 * an equal copy exists, or several others, no further copy is made. Returns `undefined` when the file does not exist.
 */
async function quarantineFile({ fs, clock }: StorePorts, path: string): Promise<string | undefined> {
  const bytes = await fs.read(path);
  if (!bytes) return undefined;
  const folder = dirname(path);
  const prefix = `${basename(path)}.corrupt-`;
  const copies = ((await fs.list(folder)) ?? []).filter((name) => name.startsWith(prefix));
  for (const name of copies) {
    const copy = await fs.read(join(folder, name));
    if (copy && Buffer.compare(copy, bytes) === 0) return `a copy is in ${join(folder, name)}`;
  }
  if (copies.length >= MOST_COPIES) return `${copies.length} earlier copies are in ${folder}`;
  const copy = join(folder, prefix + clock.now().toISOString().replaceAll(':', '-'));
  await fs.createNew(copy, bytes);
  return `a copy is in ${copy}`;
}
