/** Connects to a bundle's swarm that runs in another process. */
import type { Swarm } from '@goondan/runtime';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { attachSwarm } from './attach-swarm.ts';
import { findSwarm } from './find-swarm.ts';
import type { FilePlace, SwarmPlace } from './swarm-place.ts';

/**
 * `onPlace` hears where the state of the swarm is.
 *
 * **Errors** — `E_CONTROL_CLOSED`, with a suggestion, when the swarm does not run; those of `placeOfSwarm` and
 * `attachSwarm`.
 */
export async function reachSwarm(
  options: BundleOptions,
  whenGone?: string,
  onPlace: (place: SwarmPlace) => void = () => undefined,
): Promise<Swarm> {
  const { swarm, ...place } = await placeOfSwarm(options);
  onPlace(place);
  const client = await attachSwarm(place);
  if (client !== undefined) return client;
  const { notRunning } = await import('./not-running.ts');
  throw await notRunning({ ...place, swarm }, options, whenGone);
}

/**
 * Finds where the swarm's state is stored, whether or not the swarm runs. **Errors** — `E_STATE_ROOT`, those of
 * `findSwarm`; for a store, those of `findInStore`.
 */
export async function placeOfSwarm(options: BundleOptions): Promise<SwarmPlace & { readonly swarm: string }> {
  if (options.cluster !== undefined) {
    const { findInStore } = await import('./find-in-store.ts');
    return findInStore(options.cluster, options);
  }
  return filePlaceOf(options);
}

/** Like `placeOfSwarm`, for a command that works only on files. */
export async function filePlaceOf(options: BundleOptions): Promise<FilePlace & { readonly swarm: string }> {
  const stateRoot = readableStateRoot(options);
  const found = await findSwarm({ stateRoot, folder: bundleFolder(undefined, options), swarm: options.swarm });
  return { swarm: found.swarm, workspaceId: found.workspaceId, stateRoot };
}
