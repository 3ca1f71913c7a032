/**
 * Deletes a whole instance. The rename of its folder is the moment of the deletion; the contents are removed
 * afterwards, and so are the records of the instance in the files of the workspace.
 *
 * Invariants:
 * 1. Nothing in the folder is changed before the rename is durable: after a power loss the instance exists completely
 *    or not at all.
 * 2. An interrupted deletion is finished: the next owner of the workspace sweeps the remaining files.
 */
import { basename, dirname } from 'node:path';
import { deletedFolder, isAside, type StoredInstance } from '../layout/instance-paths.ts';
import type { StorePorts } from '../store-ports.ts';
import { newUuid } from '../../ports/ids.ts';

/** The parts of the name of a folder that was put aside: instance, time of the deletion, and an id. */
const asidePattern = /^\.deleted-([a-z0-9_-]+~[a-z0-9_-]+)~(\d+)~/;

/** Returns the name of the deleted instance's folder, and the time of its deletion; `undefined` for a draft. */
export function deletionOf(aside: string): { readonly instance: string; readonly deletedAt: Date } | undefined {
  const [, instance, time] = asidePattern.exec(aside) ?? [];
  return instance === undefined ? undefined : { instance, deletedAt: new Date(Number(time)) };
}

/**
 * Renames the folder, and resolves with its new path. The caller has to remove the renamed folder. The caller holds the
 * lock of the instance; the lock file moves with the folder.
 */
export async function putAside({ fs, clock, paths: { folder } }: StoredInstance): Promise<string> {
  const instances = dirname(folder);
  const aside = deletedFolder(instances, `${basename(folder)}~${clock.now().getTime()}~${newUuid()}`);
  await fs.rename(folder, aside);
  await fs.syncFolder(instances);
  return aside;
}

/** Erases the records of the instance that was put aside under this path, in the files of the workspace. */
export type EraseRecords = (aside: string) => Promise<void>;

/**
 * Erases the records of the instance, and then removes the renamed folder. The instance is already deleted, so a failure
 * is only reported, and the next sweep tries again.
 */
export async function removeAside(ports: StorePorts, aside: string, erase?: EraseRecords): Promise<void> {
  try {
    await erase?.(aside);
    await ports.fs.removeFolder(aside);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    ports.warn({ path: aside, message: `left of a deletion or a fork, and could not be removed: ${reason}` });
  }
}

/** Removes folders that interrupted deletions and forks left. Only the owner of the workspace may call it. */
export async function sweepAside(ports: StorePorts, instances: string, erase: EraseRecords): Promise<void> {
  const left = ((await ports.fs.list(instances)) ?? []).filter(isAside);
  if (left.length === 0) return;
  // Invariant 1: the process that renamed these folders may have died before its sync.
  await ports.fs.syncFolder(instances);
  for (const name of left) await removeAside(ports, `${instances}/${name}`, erase);
}
