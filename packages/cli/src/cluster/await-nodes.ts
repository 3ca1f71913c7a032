/** Waits until the nodes of a swarm have taken a deployed bundle, or have refused it. */
import { type Clock, sleep, systemClock } from '@goondan/runtime/internal';
import type { ClusterNode } from '@goondan/runtime/history';
import { interrupted } from '../interrupted.ts';

/** The answer of a node. A node with the state `waiting` has not answered. */
export interface NodeReply {
  readonly node: string;
  readonly state: 'taken' | 'refused' | 'waiting';
  /** The reason of a refusal. */
  readonly problem?: string;
}

export interface Waiting {
  /** Lists the living nodes. */
  readonly nodes: () => Promise<readonly ClusterNode[]>;
  /** Called once for each node that has answered. */
  readonly onReply: (reply: NodeReply) => void;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** A node tries the bundle before it takes it, which may start processes. */
const LONGEST_MS = 60_000;
const AGAIN_MS = 200;

/** Returns the replies, by name. A node that dies meanwhile has none. **Errors** — those of the store; `E_CANCELLED`. */
export async function awaitNodes(digest: string, waiting: Waiting): Promise<readonly NodeReply[]> {
  const { nodes, onReply, signal, clock = systemClock } = waiting;
  const deadline = clock.elapsed() + LONGEST_MS;
  const told = new Set<string>();
  for (;;) {
    const replies = (await nodes()).map((node) => replyOf(node, digest));
    for (const reply of replies) {
      if (reply.state === 'waiting' || told.has(reply.node)) continue;
      told.add(reply.node);
      onReply(reply);
    }
    if (replies.every(({ state }) => state !== 'waiting') || clock.elapsed() >= deadline) {
      return replies.toSorted((one, other) => (one.node < other.node ? -1 : 1));
    }
    try {
      await sleep(clock, AGAIN_MS, signal);
    } catch {
      throw interrupted('The bundle is deployed; the nodes take it without this command.');
    }
  }
}

function replyOf({ name: node, bundle }: ClusterNode, digest: string): NodeReply {
  if (bundle?.digest === digest) return { node, state: 'taken' };
  if (bundle?.refused?.digest !== digest) return { node, state: 'waiting' };
  return { node, state: 'refused', problem: bundle.refused.problem };
}
