// A file that is imported only by a command that meets the files of an older version, because it loads the orchestrator.
import type { StoreReader } from '@goondan/runtime/history';
import { migrateStoppedSwarm, sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { FilePlace } from '../swarm/swarm-place.ts';
import { hasSocket } from '../swarm/read-status.ts';

/** The maximum time to wait for another process that migrates the files. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/**
 * Migrates the files of an older version before they are read, and says so on standard error. Waits while another process
 * does so. **Errors** — `E_STORE_FORMAT` while an older version runs the swarm; the reason of `signal`; those of the disk.
 */
export async function migrateFirst(
  store: Pick<StoreReader, 'isOld' | 'directory'>,
  { stateRoot, workspaceId, flock = true }: FilePlace & { readonly flock?: boolean },
  signal?: AbortSignal,
): Promise<void> {
  const place = { stateRoot, workspaceId, flock };
  const deadline = systemClock.elapsed() + PATIENCE_MS;
  while (await store.isOld()) {
    signal?.throwIfAborted();
    // Without `warn`: a command that shows no warnings must still say that it has moved files.
    await migrateStoppedSwarm(place);
    if (!(await store.isOld())) return;
    // A swarm of this version migrates its files before it opens its socket.
    if (hasSocket(place) || systemClock.elapsed() > deadline) throw await olderSwarm(store, workspaceId);
    await sleep(systemClock, AGAIN_MS);
  }
}

async function olderSwarm({ directory }: Pick<StoreReader, 'directory'>, workspaceId: string): Promise<GoondanError> {
  const name = (await directory.swarm())?.swarm ?? workspaceId;
  return new GoondanError('E_STORE_FORMAT', `An older version of Goondan runs swarm "${name}".`, {
    suggestion: 'Stop that swarm, then type the command again.',
  });
}
