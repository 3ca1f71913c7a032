/**
 * An instance goes as a whole. Its folder is renamed first, and from then on it is deleted; what is in the folder is
 * removed after that.
 *
 * Invariants:
 * 1. Nothing in the folder is touched before the rename is durable: a loss of power brings back all of it or nothing.
 * 2. What was begun is finished: whoever owns the workspace next sweeps what is left.
 */
import { dirname } from 'node:path';
import { deletedFolder, type InstancePaths, isAside } from '../layout/instance-paths.ts';
import type { StorePorts } from '../store-ports.ts';
import { newUuid } from '../../ports/ids.ts';

/** Resolves with the folder that is left to remove. Whoever calls it has the lock of the instance, which goes with it. */
export async function putAside({ fs }: StorePorts, { folder }: InstancePaths): Promise<string> {
  const instances = dirname(folder);
  const aside = deletedFolder(instances, newUuid());
  await fs.rename(folder, aside);
  await fs.syncFolder(instances);
  return aside;
}

/** It is deleted already: what cannot be removed is told of, and tried again by the next sweep. */
export async function removeAside(ports: StorePorts, aside: string): Promise<void> {
  await ports.fs.removeFolder(aside).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    ports.warn({ path: aside, message: `is left of a deletion or a fork and could not be removed: ${reason}` });
  });
}

/** Removes what was left aside by deletions, and by forks, that were interrupted. Only for whoever owns the workspace. */
export async function sweepAside(ports: StorePorts, instances: string): Promise<void> {
  const left = ((await ports.fs.list(instances)) ?? []).filter(isAside);
  if (left.length === 0) return;
  // Invariant 1: whoever renamed them may have died before it could.
  await ports.fs.syncFolder(instances);
  for (const name of left) await removeAside(ports, `${instances}/${name}`);
}
