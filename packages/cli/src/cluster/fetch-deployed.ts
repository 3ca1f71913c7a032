/** `gdn run` with a store, in a folder without a bundle: the node starts with the deployed bundle. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceId } from '@goondan/runtime/control';
import { unpackBundle } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import { checkStateRootWritable, readableStateRoot } from '../state-root.ts';
import { findInStore } from '../swarm/find-in-store.ts';
import type { ClusterAccess } from './cluster-access.ts';

/**
 * Writes the deployed bundle into the state root, in a folder of this node, and returns the folder with the name of the
 * swarm. **Errors** — those of `findInStore` and of the store; `E_BUNDLE_MISSING` when no bundle is deployed.
 */
export async function fetchDeployed(
  cluster: ClusterAccess,
  options: BundleOptions,
  node: string,
): Promise<{ readonly folder: string; readonly swarm: string }> {
  const { swarm, workspaceId: key } = await findInStore(cluster, options);
  const deployments = (await cluster.open()).deployments(key);
  const current = await deployments.current();
  if (current === undefined) {
    const suggestion = 'Name the folder of the bundle, or deploy it with `gdn deploy FOLDER`.';
    throw new GoondanError('E_BUNDLE_MISSING', `No bundle is deployed for swarm "${swarm}".`, { suggestion });
  }
  const root = readableStateRoot(options);
  checkStateRootWritable(root);
  const names = { swarmName: key, bundleRealPath: `${node}@${cluster.place}` };
  const folder = join(root, 'deployed', workspaceId(names));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  unpackBundle(await deployments.read(current.digest), folder);
  return { folder, swarm };
}
