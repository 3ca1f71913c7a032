/** Does the work of `gdn deploy`. */
import { packBundle } from '@goondan/runtime/internal';
import { personName } from '../approval/person-name.ts';
import { openBundle } from '../bundle/open-bundle.ts';
import type { BundleOptions } from '../common-options.ts';
import { readableStateRoot } from '../state-root.ts';
import { findWorkspace } from '../swarm/find-workspace.ts';
import type { Terminal } from '../terminal.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface DeployedBundle {
  readonly swarm: string;
  readonly digest: string;
  /** False when this bundle was the deployed one before. */
  readonly isNew: boolean;
  readonly bytes: number;
  /** The number of living nodes. */
  readonly nodes: number;
  /** The name of the swarm in the store. */
  readonly key: string;
}

/** **Errors** — those of `openBundle`, `packBundle` and the store; `E_SWARM_UNKNOWN`. */
export async function deployBundle(
  cluster: ClusterAccess,
  request: BundleOptions & { readonly folder: string },
  terminal: Terminal,
): Promise<DeployedBundle> {
  const bundle = await openBundle(request.folder, terminal, { outcome: 'nothing was deployed' });
  const { swarm, key } = findWorkspace(bundle, request.swarm);
  const { digest, bytes } = packBundle(bundle.folder, [readableStateRoot(request)]);
  const store = await cluster.open();
  const deployments = store.deployments(key);
  const nodes = (await store.nodes(key)).length;
  const before = await deployments.current();
  const isNew = before?.digest !== digest;
  if (isNew) await deployments.put({ digest, bytes, by: personName() });
  return { swarm, key, digest, isNew, bytes: bytes.length, nodes };
}
