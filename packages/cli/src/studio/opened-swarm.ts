/** The swarm that `gdn studio` was typed for. Its bundle is read, and nothing of it is run. */
import { type Bundle, type DeclaredAgents, declaredAgents } from '@goondan/runtime/bundle';
import { type Clock, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { readBundle } from '../bundle/open-bundle.ts';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { placeOfSwarm } from '../swarm/reach-swarm.ts';
import { startCommand } from '../swarm/start-command.ts';
import { rememberFor } from './remember-for.ts';

/** Every look of a page at the swarm needs them, and all of the bundle is read and checked for that. */
const REMEMBERED_MS = 10_000;

export interface OpenedSwarm {
  readonly workspaceId: string;
  readonly swarm: string;
  readonly startCommand: string;
  /** As the files are, or were a moment ago; `undefined` while they are not valid. */
  readonly readAgents: () => Promise<DeclaredAgents | undefined>;
}

/**
 * `undefined` when none was named and there is none here, or not one that can be told; `note` hears why in the latter case.
 *
 * **Errors** — of one that was named: those of `placeOfSwarm`.
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
    const readNow = async () => agentsOf(await readBundle(folder), swarm);
    return {
      swarm,
      workspaceId,
      startCommand: startCommand(options),
      readAgents: rememberFor(REMEMBERED_MS, readNow, clock),
    };
  } catch (error) {
    if (isNamed || !(error instanceof GoondanError)) throw error;
    const { code, message } = error;
    if (code !== 'E_BUNDLE_MISSING')
      note(`The swarm of the bundle in this folder is not opened. ${code}: ${message}\n`);
    return undefined;
  }
}

function agentsOf(bundle: Bundle, swarm: string): DeclaredAgents | undefined {
  return bundle.valid ? declaredAgents(bundle, { swarm, environment: process.env }) : undefined;
}
