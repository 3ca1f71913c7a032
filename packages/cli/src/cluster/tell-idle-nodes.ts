/** Tells a person who waits that no node of the swarm takes work. */
import type { ClusterNode } from '@goondan/runtime/history';
import type { BundleOptions } from '../common-options.ts';
import type { Terminal } from '../terminal.ts';

export const NO_NODE_TAKES_WORK =
  'No node takes work: every living node was asked to give up its conversations. Input waits until a node is started, or stopped and started again.';

/** Returns true if nodes live, and all of them give up their conversations. */
export function areAllDraining(nodes: readonly Pick<ClusterNode, 'isDraining'>[]): boolean {
  return nodes.length > 0 && nodes.every(({ isDraining }) => isDraining);
}

/** The time that an answer may take before the nodes are looked at. */
const PATIENCE_MS = 3_000;

/** Runs `work`. If it takes longer and no node takes work, says so once. A swarm on files is left alone. */
export async function tellingIdleNodes<Value>(
  options: BundleOptions,
  terminal: Pick<Terminal, 'printError'>,
  work: () => Promise<Value>,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  const { cluster } = options;
  if (cluster === undefined) return work();
  const tell = async () => {
    const { findInStore } = await import('../swarm/find-in-store.ts');
    const { workspaceId } = await findInStore(cluster, options);
    const nodes = await (await cluster.open()).nodes(workspaceId);
    if (areAllDraining(nodes)) terminal.printError(`warn: ${NO_NODE_TAKES_WORK}\n`);
  };
  // The warning is only a help: if the store is away, the request itself fails.
  const timer = setTimeout(() => void tell().catch(() => undefined), patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
