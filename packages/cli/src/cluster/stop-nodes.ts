/** `gdn stop` for a swarm in a store: stops its nodes, or one of them. */
import { GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import { findInStore } from '../swarm/find-in-store.ts';
import { stopSwarm } from '../swarm/stop-swarm.ts';
import type { Terminal } from '../terminal.ts';
import { connectTo } from './attach-node.ts';
import type { ClusterAccess } from './cluster-access.ts';

interface StopNodes extends Pick<BundleOptions, 'bundle' | 'swarm'> {
  /** The only node to stop. */
  readonly node?: string;
  readonly graceMs: number | undefined;
  /** The command that stops them at once. */
  readonly stopNow: string;
}

/**
 * Returns the names of the stopped nodes. **Errors** — `E_CONTROL_CLOSED` when no node runs, `E_NODE_UNKNOWN`; those of
 * `connectTo`.
 */
export async function stopNodes(
  cluster: ClusterAccess,
  stop: StopNodes,
  terminal: Terminal,
): Promise<readonly string[]> {
  const { swarm, workspaceId } = await findInStore(cluster, stop);
  const nodes = await (await cluster.open()).nodes(workspaceId);
  const chosen = nodes.filter(({ name }) => stop.node === undefined || name === stop.node);
  if (chosen.length === 0 && stop.node !== undefined) {
    throw new GoondanError('E_NODE_UNKNOWN', `No living node of swarm "${swarm}" has the name "${stop.node}".`);
  }
  if (chosen.length === 0) {
    const suggestion = 'There is nothing to stop.';
    throw new GoondanError('E_CONTROL_CLOSED', `No node of swarm "${swarm}" is running.`, { suggestion });
  }
  const { graceMs, stopNow } = stop;
  const outcomes = await Promise.allSettled(
    chosen.map(async (node) => {
      const client = await connectTo(node, cluster.token());
      await stopSwarm({ swarm: client, graceMs, stopNow }, terminal);
      return node.name;
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])).toSorted();
}
