/**
 * The graph of waiting instances. A turn that makes a request blocks the queue of its instance, so the nodes are
 * instances and the edges are open requests.
 *
 * Invariant: if every new edge was checked with `findCircle`, the graph has no cycle, so every wait ends at an instance
 * that can continue. A request that would close a cycle could never be answered and is rejected at once.
 */
import type { AgentAddress } from '@goondan/types';
import { addressKey, isSameAddress } from '../address/address-key.ts';

/**
 * Returns the cycle that an edge from `asking` to `asked` would close, beginning and ending with `asking`. `awaited`
 * returns the instances that an instance waits for.
 */
export function findCircle(
  awaited: (address: AgentAddress) => Iterable<AgentAddress>,
  asking: AgentAddress,
  asked: AgentAddress,
): AgentAddress[] | undefined {
  const reachedFrom = new Map<string, AgentAddress>([[addressKey(asked), asking]]);
  const open = [asked];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (isSameAddress(at, asking)) return pathTo(asking, reachedFrom);
    for (const next of awaited(at)) {
      if (reachedFrom.has(addressKey(next))) continue;
      reachedFrom.set(addressKey(next), at);
      open.push(next);
    }
  }
  return undefined;
}

/** Follows the path backwards, from `asking` to `asking`. */
function pathTo(asking: AgentAddress, reachedFrom: ReadonlyMap<string, AgentAddress>): AgentAddress[] {
  const path = [asking];
  for (let at = reachedFrom.get(addressKey(asking)); at !== undefined; at = reachedFrom.get(addressKey(at))) {
    path.unshift(at);
    if (isSameAddress(at, asking)) break;
  }
  return path;
}
