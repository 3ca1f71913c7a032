/** Does the work of `gdn deploy`. */
import type { Deployments } from '@goondan/runtime/history';
import { packBundle } from '@goondan/runtime/internal';
import { openBundle } from '../bundle/open-bundle.ts';
import type { BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { findWorkspace } from '../swarm/find-workspace.ts';
import type { Terminal } from '../terminal.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { keptOutOf } from './kept-out.ts';
import { operatingToken } from './operating-token.ts';

export interface DeployedBundle {
  readonly swarm: string;
  readonly digest: string;
  /** False when this bundle was the deployed one before. */
  readonly isNew: boolean;
  /** The digest of the bundle that was deployed before. */
  readonly before?: string;
  readonly bytes: number;
  /** The number of living nodes. */
  readonly nodes: number;
  /** The name of the swarm in the store. */
  readonly key: string;
  /** The name of the token that deployed it. */
  readonly by: string;
}

/** **Errors** — those of `operatingToken`, `openBundle`, `packBundle` and the store; `E_SWARM_UNKNOWN`. */
export async function deployBundle(
  cluster: ClusterAccess,
  request: BundleOptions & { readonly folder: string },
  terminal: Terminal,
): Promise<DeployedBundle> {
  const { name: by } = await operatingToken(cluster, '`gdn deploy`');
  const bundle = await openBundle(request.folder, terminal, { outcome: 'nothing was deployed' });
  const { swarm, key } = findWorkspace(bundle, request.swarm);
  const { digest, bytes } = packBundle(bundle.folder, keptOutOf(cluster, [readableStateRoot(request)]));
  const store = await cluster.open();
  const deployments = store.deployments(key);
  const nodes = (await store.nodes(key)).length;
  const before = await deployments.current();
  const isNew = before?.digest !== digest;
  if (isNew) await deployments.put({ digest, bytes, by });
  return { swarm, key, by, digest, isNew, bytes: bytes.length, nodes, ...(before && { before: before.digest }) };
}

/**
 * Deploys the bundle before again, if this one is still the deployed one. Otherwise, or if there is none to go back to,
 * returns false. **Errors** — those of the store; `E_STORE_READ` when the store has dropped the bundle before.
 */
export async function takeBack(
  deployments: Pick<Deployments, 'read' | 'put'>,
  { digest, isNew, before, by }: Pick<DeployedBundle, 'digest' | 'isNew' | 'before' | 'by'>,
): Promise<boolean> {
  if (!isNew || before === undefined) return false;
  const bytes = await deployments.read(before);
  return deployments.put({ digest: before, bytes, by, base: digest });
}
