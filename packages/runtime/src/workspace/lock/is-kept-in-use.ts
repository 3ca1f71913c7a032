import { type JournalLocation, ownerPath } from '../layout/instance-paths.ts';
import { keptWorkspace } from '../layout/kept-workspace.ts';
import type { StorePorts } from '../store-ports.ts';
import { readLock } from './acquire-lock.ts';

/** Returns true if a process of an older version owns the files that a migration has kept. */
export async function isKeptInUse(
  { fs, processes }: Pick<StorePorts, 'fs' | 'processes'>,
  location: JournalLocation,
): Promise<boolean> {
  const { owner } = await readLock(fs, ownerPath(keptWorkspace(location)));
  return owner !== null && processes.isAlive(owner);
}
