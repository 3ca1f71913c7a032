import { openStoreReader } from '@goondan/runtime/history';
import { type Backup, backUpFiles, type BackupProgress } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import { readVersion } from '../read-version.ts';
import { migrateFirst } from './migrate-first.ts';
import type { FilePlace } from '../swarm/swarm-place.ts';
import type { StorePlace } from './with-store.ts';

/**
 * Backs up a swarm, running or stopped. **Errors** — `E_SWARM_UNKNOWN` when the swarm has never run, `E_STORE_FORMAT` while
 * an older version runs it, `E_CANCELLED`; those of `backUpFiles`.
 */
export async function backUpSwarm(
  { swarm, ...place }: StorePlace<FilePlace> & { readonly swarm: string },
  folder: string,
  signal: AbortSignal,
  onProgress: (progress: BackupProgress) => void,
): Promise<Backup> {
  try {
    await refuseOthers(swarm, place, signal);
    return await backUpFiles(place, { folder, swarm, version: readVersion(), signal, onProgress });
  } catch (error) {
    throw signal.aborted && error === signal.reason
      ? interrupted('The backup was interrupted. Nothing is left of it.')
      : error;
  }
}

async function refuseOthers(swarm: string, place: StorePlace<FilePlace>, signal: AbortSignal): Promise<void> {
  const store = openStoreReader(place);
  if (!(await store.directory.exists())) {
    const message = `Swarm "${swarm}" has never run with the state root ${place.stateRoot}, so there is nothing to back up.`;
    const suggestion = 'Name the state root with `--state-root`, if the swarm uses another one.';
    throw new GoondanError('E_SWARM_UNKNOWN', message, { suggestion });
  }
  await migrateFirst(store, place, signal);
}
