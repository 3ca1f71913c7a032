import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Fs } from '../../ports/fs.ts';

/**
 * Copies a damaged file to `<name>.corrupt-<time>` and returns the path of the copy. The original stays. If an equal
 * copy exists, no second one is made. Returns `undefined` when there is nothing to copy.
 */
export async function keepAside(fs: Fs, clock: Clock, path: string): Promise<string | undefined> {
  const bytes = await fs.read(path);
  if (!bytes) return undefined;
  const folder = dirname(path);
  const prefix = `${basename(path)}.corrupt-`;
  for (const name of (await fs.list(folder)) ?? []) {
    if (!name.startsWith(prefix)) continue;
    const copy = await fs.read(join(folder, name));
    if (copy && Buffer.compare(copy, bytes) === 0) return join(folder, name);
  }
  const copy = join(folder, prefix + clock.now().toISOString().replaceAll(':', '-'));
  await fs.createNew(copy, bytes);
  return copy;
}
