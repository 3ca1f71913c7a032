/** Finds a swarm in a store that many nodes share: by the bundle, by its name, or because it is the only one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ListedWorkspace } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { FoundWorkspace } from './find-workspace.ts';
import type { ClusterPlace } from './swarm-place.ts';

/**
 * **Errors** — `E_SWARM_UNKNOWN` when the store has no such swarm, or several and none is named; those of the store; for
 * a folder that `--bundle` names, those of `findWorkspaceIn`.
 */
export async function findInStore(
  cluster: ClusterAccess,
  options: Pick<BundleOptions, 'bundle' | 'swarm'>,
): Promise<ClusterPlace & { readonly swarm: string }> {
  const found = (await findByBundle(options)) ?? (await findByName(cluster, options.swarm));
  return { cluster, ...found };
}

async function findByBundle({
  bundle,
  swarm,
}: Pick<BundleOptions, 'bundle' | 'swarm'>): Promise<FoundWorkspace | undefined> {
  const folder = bundleFolder(undefined, bundle === undefined ? {} : { bundle });
  if (bundle === undefined && !existsSync(join(folder, 'goondan.yaml'))) return undefined;
  const { findWorkspaceIn } = await import('./find-workspace.ts');
  try {
    const { swarm: name, key } = await findWorkspaceIn(folder, swarm);
    return { swarm: name, workspaceId: key };
  } catch (error) {
    // The name may be that of a swarm of another bundle, in the same store.
    const isElsewhere = GoondanError.is(error) && error.code === 'E_SWARM_UNKNOWN' && swarm !== undefined;
    if (bundle === undefined || isElsewhere) return undefined;
    throw error;
  }
}

async function findByName(cluster: ClusterAccess, wanted: string | undefined): Promise<FoundWorkspace> {
  const name = wanted?.replace(/^Swarm\//, '');
  const listed = await (await cluster.open()).swarms.list();
  const fitting = listed.filter(({ workspaceId, swarm }) => name === undefined || [workspaceId, swarm].includes(name));
  const exact = fitting.find(({ workspaceId }) => workspaceId === name);
  const [only, another] = exact === undefined ? fitting : [exact];
  if (only === undefined) throw unknown(cluster, name, listed);
  if (another !== undefined) {
    const suggestion = `Name one of them, as in \`--swarm ${only.workspaceId}\`.`;
    throw new GoondanError('E_SWARM_UNKNOWN', `The store has several swarms: ${namesOf(fitting)}.`, { suggestion });
  }
  return { swarm: only.swarm ?? only.workspaceId, workspaceId: only.workspaceId };
}

function unknown({ shown }: ClusterAccess, name: string | undefined, listed: readonly ListedWorkspace[]): GoondanError {
  if (listed.length === 0) {
    const suggestion = 'Start a node with `gdn run FOLDER`, in the folder of a bundle.';
    return new GoondanError('E_SWARM_UNKNOWN', `The store ${shown} has no swarm yet.`, { suggestion });
  }
  const suggestion = 'Name one of them with `--swarm`.';
  return new GoondanError('E_SWARM_UNKNOWN', `The store has no swarm "${name}"; it has: ${namesOf(listed)}.`, {
    suggestion,
  });
}

const MOST_NAMED = 10;

function namesOf(listed: readonly ListedWorkspace[]): string {
  const names = listed.map(({ workspaceId }) => workspaceId).toSorted();
  return `${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`;
}
