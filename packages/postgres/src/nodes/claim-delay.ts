import type { LivingNode } from './node-rows.ts';

const STEP_MS = 15;
const MOST_MS = 300;

/**
 * Returns the time that a node waits before it claims a free instance, in proportion to the processes that it has more than
 * the least loaded node. So the least loaded node is the first to claim.
 */
export function claimDelayMs(
  id: string,
  load: number,
  nodes: readonly Pick<LivingNode, 'id' | 'load' | 'isDraining'>[],
): number {
  const others = nodes.filter((node) => node.id !== id && !node.isDraining).map((node) => node.load);
  return Math.min(MOST_MS, STEP_MS * Math.max(0, load - Math.min(...others, load)));
}
