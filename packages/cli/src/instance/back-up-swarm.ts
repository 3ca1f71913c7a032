import { type Backup, backUpFiles, type BackupProgress } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import { readVersion } from '../read-version.ts';
import { type FilePlace, openReader } from '../swarm/swarm-place.ts';
import type { StorePlace } from './with-store.ts';

/**
 * Backs up a swarm, running or stopped. **Errors** — `E_SWARM_UNKNOWN` when the swarm has never run, `E_STORE_FORMAT`,
 * `E_CANCELLED`; those of `backUpFiles`.
 */
export async function backUpSwarm(
  { swarm, ...place }: StorePlace<FilePlace> & { readonly swarm: string },
  folder: string,
  signal: AbortSignal,
  onProgress: (progress: BackupProgress) => void,
): Promise<Backup> {
  try {
    await refuseUnused(swarm, place);
    return await backUpFiles(place, { folder, swarm, version: readVersion(), signal, onProgress });
  } catch (error) {
    throw signal.aborted && error === signal.reason
      ? interrupted('The backup was interrupted. Nothing is left of it.')
      : error;
  }
}

async function refuseUnused(swarm: string, place: StorePlace<FilePlace>): Promise<void> {
  const store = await openReader(place);
  if (!(await store.directory.exists())) {
    const message = `Swarm "${swarm}" has never run with the state root ${place.stateRoot}, so there is nothing to back up.`;
    const suggestion = 'Name the state root with `--state-root`, if the swarm uses another one.';
    throw new GoondanError('E_SWARM_UNKNOWN', message, { suggestion });
  }
}
