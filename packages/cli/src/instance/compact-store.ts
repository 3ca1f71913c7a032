import { type CompactedStore, compactFiles, compactStoppedSwarm } from '@goondan/runtime/internal';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';

/**
 * Removes the files that a swarm keeps from an older version, while it runs or is stopped. While a swarm starts or stops,
 * the command waits: a migration may be under way.
 *
 * **Errors** — those of `compactFiles` and of the control socket, and `E_SWARM_RUNNING`.
 */
export function compactStore(
  place: Parameters<typeof compactStoppedSwarm>[0],
  signal: AbortSignal,
): Promise<CompactedStore> {
  return betweenSwarms(async () => {
    const running = await attachSwarm(place);
    return running === undefined ? compactStoppedSwarm(place) : compactFiles(place);
  }, signal);
}
