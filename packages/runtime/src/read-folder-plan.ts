/** Reads the plan of a swarm from the folder that declares it, at the start of the swarm and for a reload. */
import { GoondanError } from '@goondan/types';
import { loadBundle } from './config/bundle/load-bundle.ts';
import { type ResolvedSwarm, type ResolveOptions, resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
import type { BundleSource } from './config/examination.ts';

/** The place of a running swarm: its workspace, or for a node its name in the store. It must stay the same. */
type SwarmWorkspace = { readonly stateRoot: string } & ({ readonly workspaceId: string } | { readonly swarm: string });

export interface SwarmFolder extends Pick<ResolveOptions, 'swarm' | 'workdir' | 'connections' | 'isNode'> {
  /** The folder of `goondan.yaml`. */
  readonly bundleFolder: string;
}

/** Reads the plan. **Errors** — `E_BUNDLE_MISSING`, those of `resolveSwarm`. */
export async function readFolderPlan({ bundleFolder, ...choice }: SwarmFolder): Promise<ResolvedSwarm> {
  const environment = process.env;
  return resolveSwarm(await loadBundle(bundleFolder, { environment }), { environment, ...choice });
}

/** Makes the source of a swarm that runs in this workspace. The bundle is read with the environment of this process. */
export function bundleSource(folder: SwarmFolder, place: SwarmWorkspace): BundleSource {
  const { stateRoot } = place;
  return {
    readPlan: async () => {
      const { plan, workspace, workspaceId } = await readFolderPlan(folder);
      const isSame = 'swarm' in place ? (workspace ?? plan.name) === place.swarm : workspaceId === place.workspaceId;
      if (isSame) return plan;
      const message = `Swarm "${plan.name}" now names another workspace, but a running swarm cannot change its workspace.`;
      throw new GoondanError('E_RELOAD_SWARM', message);
    },
    examine: async (request) => {
      // Most swarms have no changesets, and this import brings the parser of YAML.
      const { examineChangeset } = await import('./config/bundle/changesets/examine-changeset.ts');
      return examineChangeset({ ...folder, environment: process.env, stateRoot }, request);
    },
  };
}
