import { type Bundle, type BundleSwarms, loadSwarms, resolveSwarm } from '@goondan/runtime/bundle';
import { workspaceId } from '@goondan/runtime/control';
import { readBundle } from '../bundle/open-bundle.ts';

export interface FoundWorkspace {
  readonly swarm: string;
  readonly workspaceId: string;
}

export interface FoundSwarm extends FoundWorkspace {
  /** The name of the swarm in a store: that of its workspace, or else its own. */
  readonly key: string;
}

/**
 * Finds the workspace of a bundle's swarm like `resolveSwarm`, but also while other parts of the bundle are broken or
 * lack a value.
 *
 * **Errors** — `E_SWARM_UNKNOWN`; `E_BUNDLE_INVALID` when the swarm may be unknown only because the bundle is invalid.
 */
export function findWorkspace(bundle: Bundle, wanted: string | undefined): FoundSwarm {
  const { folder, scope } = bundle;
  const swarms = scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Swarm') return [];
    const { workspace } = loaded.resource.spec;
    return [{ name: loaded.name, ...(workspace === undefined ? {} : { workspace }) }];
  });
  return chooseWorkspace({ folder, swarms }, wanted) ?? resolveIt(bundle, wanted);
}

/**
 * Finds the workspace for a folder, and reads only the swarms of its bundle. `findSwarm` calls this function for a
 * swarm that never ran.
 *
 * **Errors** — `E_BUNDLE_MISSING`, and those of `findWorkspace`.
 */
export async function findWorkspaceIn(folder: string, wanted: string | undefined): Promise<FoundSwarm> {
  return chooseWorkspace(await loadSwarms(folder), wanted) ?? resolveIt(await readBundle(folder), wanted);
}

function chooseWorkspace({ folder, swarms }: BundleSwarms, wanted: string | undefined): FoundSwarm | undefined {
  const name = wanted?.replace(/^Swarm\//, '') ?? (swarms.length === 1 ? swarms[0]?.name : 'default');
  const chosen = swarms.find((swarm) => swarm.name === name);
  if (chosen === undefined) return undefined;
  const { name: swarm, workspace } = chosen;
  const names = { swarmName: swarm, bundleRealPath: folder };
  const id = workspaceId(workspace === undefined ? names : { ...names, workspace });
  return { swarm, workspaceId: id, key: workspace ?? swarm };
}

/**
 * Called when the swarm was not found. `resolveSwarm` does not find it either, but throws an error that lists the known
 * swarms.
 */
function resolveIt(bundle: Bundle, wanted: string | undefined): FoundSwarm {
  const options = { environment: process.env, ...(wanted === undefined ? {} : { swarm: wanted }) };
  const { plan, workspaceId: id, workspace = plan.name } = resolveSwarm(bundle, options);
  return { swarm: plan.name, workspaceId: id, key: workspace };
}
