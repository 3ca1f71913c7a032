import { type BackupProgress, type RestoredSwarm, restoreStoppedSwarm } from '@goondan/runtime/internal';
import { interrupted } from '../interrupted.ts';
import { checkStateRootWritable } from '../state-root.ts';

/**
 * Restores a backup while no swarm runs in its place. **Errors** — `E_SWARM_RUNNING`, `E_CANCELLED`; those of
 * `restoreStoppedSwarm`.
 */
export async function restoreSwarm(
  place: Parameters<typeof restoreStoppedSwarm>[0],
  folder: string,
  signal: AbortSignal,
  onProgress: (progress: BackupProgress) => void,
): Promise<RestoredSwarm> {
  checkStateRootWritable(place.stateRoot);
  try {
    return await restoreStoppedSwarm(place, { folder, signal, onProgress });
  } catch (error) {
    throw signal.aborted && error === signal.reason
      ? interrupted('The restore was interrupted. Nothing was restored.')
      : error;
  }
}
