/** Reads the plan of a swarm from the folder that declares it, at the start of the swarm and for a reload. */
import { GoondanError } from '@goondan/types';
import { loadBundle } from './config/bundle/load-bundle.ts';
import { type ResolvedSwarm, type ResolveOptions, resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
import type { SwarmPlan } from './config/swarm-plan.ts';

export interface SwarmFolder extends Pick<ResolveOptions, 'swarm' | 'workdir' | 'connections'> {
  /** The folder of `goondan.yaml`. */
  readonly bundleFolder: string;
}

/** Reads the plan. **Errors** — `E_BUNDLE_MISSING`, those of `resolveSwarm`. */
export async function readFolderPlan({ bundleFolder, ...choice }: SwarmFolder): Promise<ResolvedSwarm> {
  const environment = process.env;
  return resolveSwarm(await loadBundle(bundleFolder, { environment }), { environment, ...choice });
}

/**
 * Reads the plan of the swarm that runs in this workspace. **Errors** — `E_RELOAD_SWARM`, those of `readFolderPlan`.
 */
export async function readPlanAgain(folder: SwarmFolder, workspaceId: string): Promise<SwarmPlan> {
  const { plan, workspaceId: other } = await readFolderPlan(folder);
  if (other === workspaceId) return plan;
  const message = `Swarm "${plan.name}" now names another workspace, but a running swarm cannot change its workspace.`;
  throw new GoondanError('E_RELOAD_SWARM', message);
}
