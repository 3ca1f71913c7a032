/** The swarm for which `gdn studio` was started. Its bundle is read, but none of the bundle's code runs. */
import { type Bundle, type DeclaredAgents, declaredAgents } from '@goondan/runtime/bundle';
import { type Clock, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { readBundle } from '../bundle/open-bundle.ts';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { placeOfSwarm } from '../swarm/reach-swarm.ts';
import { rememberFor } from './remember-for.ts';
import { startAnywhere } from './start-anywhere.ts';

/**
 * How long the agents are cached. A cache is needed, because every view shows the agents, and reading them checks the
 * whole bundle.
 */
const REMEMBERED_MS = 10_000;

export interface OpenedSwarm {
  readonly workspaceId: string;
  readonly swarm: string;
  readonly startCommand: string;
  /**
   * Returns the agents from the current files, at most `REMEMBERED_MS` old; `undefined` while the bundle is invalid.
   */
  readonly readAgents: () => Promise<DeclaredAgents | undefined>;
}

/**
 * Returns `undefined` when no bundle or swarm was named, and the current folder has no swarm that can be opened. Then
 * `note` is called with the reason, unless the folder has no bundle.
 *
 * **Errors** — those of `placeOfSwarm`, if a bundle or swarm was named.
 */
export async function openSwarm(
  options: BundleOptions,
  note: (text: string) => void,
  clock: Clock = systemClock,
): Promise<OpenedSwarm | undefined> {
  const folder = bundleFolder(undefined, options);
  const isNamed = options.bundle !== undefined || options.swarm !== undefined;
  try {
    const { swarm, workspaceId } = await placeOfSwarm(options);
    const stateRoot = readableStateRoot(options);
    const readNow = async () => agentsOf(await readBundle(folder), swarm);
    return {
      swarm,
      workspaceId,
      startCommand: startAnywhere({ folder, swarm: options.swarm, store: options.store, stateRoot }),
      readAgents: rememberFor(REMEMBERED_MS, readNow, clock),
    };
  } catch (error) {
    if (isNamed || !GoondanError.is(error)) throw error;
    const { code, message } = error;
    if (code !== 'E_BUNDLE_MISSING')
      note(`The swarm of the bundle in this folder is not opened. ${code}: ${message}\n`);
    return undefined;
  }
}

function agentsOf(bundle: Bundle, swarm: string): DeclaredAgents | undefined {
  return bundle.valid ? declaredAgents(bundle, { swarm, environment: process.env }) : undefined;
}
