import { type Bundle, resolveSwarm, workspaceId } from '@goondan/runtime';

export interface FoundWorkspace {
  readonly swarm: string;
  readonly workspaceId: string;
}

/**
 * The workspace of a bundle's swarm, as `resolveSwarm` chooses it, but of a bundle that is broken elsewhere, or lacks a
 * value, too: what runs can be reached however its files look by now.
 *
 * **Errors** — `E_SWARM_UNKNOWN`; `E_BUNDLE_INVALID` when that may be the reason.
 */
export function findWorkspace(bundle: Bundle, wanted: string | undefined): FoundWorkspace {
  const { scope } = bundle;
  const swarms = scope.resources.flatMap((loaded) => (loaded.kind === 'Swarm' ? [loaded] : []));
  const name = wanted?.replace(/^Swarm\//, '') ?? (swarms.length === 1 ? swarms[0]?.name : 'default');
  const chosen = swarms.find((swarm) => swarm.name === name);
  if (chosen === undefined) return resolveIt(bundle, wanted);
  const { workspace } = chosen.resource.spec;
  const names = { swarmName: chosen.name, bundleRealPath: bundle.folder };
  return { swarm: chosen.name, workspaceId: workspaceId(workspace === undefined ? names : { ...names, workspace }) };
}

/** It finds none either, and says which ones there are. */
function resolveIt(bundle: Bundle, wanted: string | undefined): FoundWorkspace {
  const options = { environment: process.env, ...(wanted === undefined ? {} : { swarm: wanted }) };
  const { plan, workspaceId: id } = resolveSwarm(bundle, options);
  return { swarm: plan.name, workspaceId: id };
}
