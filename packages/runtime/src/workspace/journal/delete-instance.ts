/**
 * Deletes a whole instance. The rename of its folder is the moment of the deletion; the contents are removed
 * afterwards.
 *
 * Invariants:
 * 1. Nothing in the folder is changed before the rename is durable: after a power loss the instance exists completely
 *    or not at all.
 * 2. An interrupted deletion is finished: the next owner of the workspace sweeps the remaining files.
 */
import { dirname } from 'node:path';
import { deletedFolder, isAside, type StoredInstance } from '../layout/instance-paths.ts';
import type { StorePorts } from '../store-ports.ts';
import { newUuid } from '../../ports/ids.ts';

/**
 * Renames the folder, and resolves with its new path. The caller has to remove the renamed folder. The caller holds the
 * lock of the instance; the lock file moves with the folder.
 */
export async function putAside({ fs, paths: { folder } }: StoredInstance): Promise<string> {
  const instances = dirname(folder);
  const aside = deletedFolder(instances, newUuid());
  await fs.rename(folder, aside);
  await fs.syncFolder(instances);
  return aside;
}

/**
 * Removes the renamed folder. The instance is already deleted, so a failure is only reported, and the next sweep tries
 * again.
 */
export async function removeAside(ports: StorePorts, aside: string): Promise<void> {
  await ports.fs.removeFolder(aside).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    ports.warn({ path: aside, message: `is left of a deletion or a fork and could not be removed: ${reason}` });
  });
}

/** Removes folders that interrupted deletions and forks left. Only the owner of the workspace may call it. */
export async function sweepAside(ports: StorePorts, instances: string): Promise<void> {
  const left = ((await ports.fs.list(instances)) ?? []).filter(isAside);
  if (left.length === 0) return;
  // Invariant 1: the process that renamed these folders may have died before its sync.
  await ports.fs.syncFolder(instances);
  for (const name of left) await removeAside(ports, `${instances}/${name}`);
}
