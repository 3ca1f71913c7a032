/** Connects a command to the nodes of a swarm in a store. */
import type { Swarm } from '@goondan/runtime';
import { type ConnectOptions, connectNode } from '@goondan/runtime/control';
import type { ClusterNode } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import type { ClusterPlace } from '../swarm/swarm-place.ts';
import { firstOf } from './first-of.ts';
import { roamingSwarm } from './roaming-swarm.ts';

/**
 * Returns the handle of the swarm, which goes on when its node dies; `undefined` when no living node answers.
 *
 * **Errors** — `E_CLUSTER_TOKEN`, `E_CLUSTER_CERTIFICATE`, those of the store and of `connectNode`.
 */
export async function attachNode(
  { cluster, workspaceId }: ClusterPlace,
  options?: ConnectOptions,
): Promise<Swarm | undefined> {
  const connect = async () => {
    const nodes = await (await cluster.open()).nodes(workspaceId);
    return nodes.length === 0 ? undefined : connectToAny(nodes, cluster.token(), options);
  };
  const first = await connect();
  return first === undefined ? undefined : roamingSwarm(first, { connect });
}

async function connectToAny(
  nodes: readonly ClusterNode[],
  token: string,
  options?: ConnectOptions,
): Promise<Swarm | undefined> {
  try {
    return await firstOf(nodes.flatMap((node) => connector(node, token, options)));
  } catch (error) {
    if (GoondanError.is(error) && ['E_CONTROL_CLOSED', 'E_CONTROL_SILENT'].includes(error.code)) return undefined;
    throw error;
  }
}

function connector({ control }: ClusterNode, token: string, options?: ConnectOptions): (() => Promise<Swarm>)[] {
  return control === undefined ? [] : [() => connectNode({ ...control, token }, options)];
}

/** Connects to one node. **Errors** — those of `attachNode`, and `E_NODE_UNKNOWN` when the node has no control port. */
export async function connectTo({ control, name }: ClusterNode, token: string): Promise<Swarm> {
  if (control === undefined) throw new GoondanError('E_NODE_UNKNOWN', `Node "${name}" has no control port.`);
  return connectNode({ ...control, token });
}
