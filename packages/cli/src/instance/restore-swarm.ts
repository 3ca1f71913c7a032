import { type BackupProgress, type RestoredSwarm, restoreStoppedSwarm } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
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
    signal.throwIfAborted();
    return await restoreStoppedSwarm(place, { folder, signal, onProgress });
  } catch (error) {
    if (signal.aborted && error === signal.reason)
      throw interrupted('The restore was interrupted. Nothing was restored.');
    if (!GoondanError.is(error) || error.code !== 'E_SWARM_RUNNING') throw error;
    const suggestion = 'Nothing was restored. Stop it with `gdn stop`, then type the command again.';
    throw new GoondanError(error.code, error.message, { suggestion, cause: error });
  }
}
