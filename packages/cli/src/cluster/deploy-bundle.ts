/** Does the work of `gdn deploy`. */
import type { Deployment, Deployments, NewDeployment } from '@goondan/runtime/history';
import { packBundle } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { openBundle } from '../bundle/open-bundle.ts';
import type { BundleOptions } from '../common-options.ts';
import { harmlessText } from '../harmless-text.ts';
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

/**
 * `expect`: the bundle that must be the deployed one, by its digest or the beginning of it.
 *
 * **Errors** — those of `operatingToken`, `openBundle`, `packBundle` and the store; `E_SWARM_UNKNOWN`; `E_DEPLOY_CONFLICT` if
 * another bundle than the expected one is deployed, unless it is this one.
 */
export async function deployBundle(
  cluster: ClusterAccess,
  request: BundleOptions & { readonly folder: string; readonly expect?: string },
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
  if (isNew) await put(deployments, { digest, bytes, by }, before, request.expect);
  return { swarm, key, by, digest, isNew, bytes: bytes.length, nodes, ...(before && { before: before.digest }) };
}

async function put(
  deployments: Pick<Deployments, 'current' | 'put'>,
  bundle: NewDeployment,
  before: Deployment | undefined,
  expect: string | undefined,
): Promise<void> {
  if (expect === undefined) return void (await deployments.put(bundle));
  const isExpected = before?.digest.startsWith(expect) === true;
  if (isExpected && (await deployments.put({ ...bundle, base: before.digest }))) return;
  const now = isExpected ? await deployments.current() : before;
  const deployed =
    now === undefined ? 'none is deployed' : `${now.digest.slice(0, 12)} is deployed, by ${harmlessText(now.by)}`;
  throw new GoondanError('E_DEPLOY_CONFLICT', `Bundle ${expect.slice(0, 12)} is expected, and ${deployed}.`);
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
