/** Connects to a bundle's swarm that runs in another process. */
import type { Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { attachSwarm, type SwarmPlace } from './attach-swarm.ts';
import { findSwarm } from './find-swarm.ts';
import { startCommand } from './start-command.ts';

/**
 * **Errors** — `E_CONTROL_CLOSED`, with a suggestion, when the swarm does not run; those of `placeOfSwarm` and
 * `attachSwarm`.
 */
export async function reachSwarm(options: BundleOptions, whenGone?: string): Promise<Swarm> {
  const { swarm, ...place } = await placeOfSwarm(options);
  const client = await attachSwarm(place);
  if (client !== undefined) return client;
  const suggestion = whenGone ?? `Start it with \`${startCommand(options)}\`, then type this command again.`;
  throw new GoondanError('E_CONTROL_CLOSED', `Swarm "${swarm}" is not running.`, { suggestion });
}

/**
 * Finds where the swarm's state is stored, whether or not the swarm runs. **Errors** — `E_STATE_ROOT`, those of
 * `findSwarm`.
 */
export async function placeOfSwarm(options: BundleOptions): Promise<SwarmPlace & { readonly swarm: string }> {
  const stateRoot = readableStateRoot(options);
  const found = await findSwarm({ stateRoot, folder: bundleFolder(undefined, options), swarm: options.swarm });
  return { ...found, stateRoot };
}
