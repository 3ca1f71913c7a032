/**
 * Who waits for whom. A turn that asks blocks the queue of its instance, so the nodes are instances and an edge is a
 * request under way.
 *
 * Invariant: a graph in which every new edge was checked with `findCircle` has no circle, so that whatever waits, waits
 * at last for somebody who can go on. A request that would break this can never be answered and is refused at once.
 */
import type { AgentAddress } from '@goondan/types';
import { addressKey, isSameAddress } from '../address/address-key.ts';

/** The instances an instance waits for. */
export type Awaited = (address: AgentAddress) => Iterable<AgentAddress>;

/** The circle that an edge from `asking` to `asked` would close, beginning and ending with `asking`. */
export function findCircle(awaited: Awaited, asking: AgentAddress, asked: AgentAddress): AgentAddress[] | undefined {
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

/** Back from the end to the beginning, which are the same. */
function pathTo(asking: AgentAddress, reachedFrom: ReadonlyMap<string, AgentAddress>): AgentAddress[] {
  const path = [asking];
  for (let at = reachedFrom.get(addressKey(asking)); at !== undefined; at = reachedFrom.get(addressKey(at))) {
    path.unshift(at);
    if (isSameAddress(at, asking)) break;
  }
  return path;
}
