/** The place of a swarm's state: files of this machine, or a store that many nodes share. */
import type { DurableStoreOptions, StoreReader } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from '../cluster/cluster-access.ts';

export interface FilePlace {
  readonly stateRoot: string;
  readonly workspaceId: string;
  readonly cluster?: undefined;
}

export interface ClusterPlace {
  readonly cluster: ClusterAccess;
  /** The name of the swarm in the store. */
  readonly workspaceId: string;
}

export type SwarmPlace = FilePlace | ClusterPlace;

/**
 * Opens the readers of a swarm, running or stopped. `warn` is called with reports of damaged files; without `warn`, the
 * reports go to standard error. **Errors** — for a store, those of `ClusterAccess.open`.
 */
export async function openReader(place: SwarmPlace & Pick<DurableStoreOptions, 'warn'>): Promise<StoreReader> {
  if (place.cluster !== undefined) return (await place.cluster.open()).reader(place.workspaceId);
  const { openStoreReader } = await import('@goondan/runtime/history');
  return openStoreReader(place);
}

/** Returns the place of a swarm on files. **Errors** — `E_USAGE` with the reason, for a swarm in a store. */
export function onFiles<Place extends SwarmPlace>(place: Place, reason: string): Extract<Place, FilePlace> {
  if (place.cluster === undefined) {
    // Safe: without `cluster`, it is a place on files.
    return place as Extract<Place, FilePlace>;
  }
  throw new GoondanError('E_USAGE', reason);
}
