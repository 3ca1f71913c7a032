/** The nodes of a swarm, and the node to which each instance belongs. A swarm on files has one node. */
import type { AgentAddress, GoondanError } from '@goondan/types';

/**
 * The place of one node among the nodes of its swarm.
 *
 * Invariants that every placement guarantees:
 * 1. An instance belongs to at most one node at a time.
 * 2. A node that lost an instance is told, and `check` throws from then on, before another node can own the instance.
 * 3. After `leave`, the instances of the node can be claimed by others.
 */
export interface Placement {
  /** The name of this node. */
  readonly node: string;
  /**
   * Makes this node the owner of an instance. Returns false if another node owns it. Claiming an own instance again
   * changes nothing. **Errors** — `E_FENCED` when this node lost its place.
   */
  claim(instance: AgentAddress): Promise<boolean>;
  /** Gives up an instance that has no process at this node. Without a claim, it does nothing. */
  release(instance: AgentAddress): Promise<void>;
  /**
   * Throws `E_FENCED` if this node lost its place, or this instance. It is synchronous and cheap, so that callers can
   * check directly before they start a process or write.
   */
  check(instance?: AgentAddress): void;
  /**
   * Calls the listener once for each loss: of an instance, or of the whole place if no instance is given. The listener
   * is also told of a loss before this call.
   */
  onLost(listener: (error: GoondanError, instance?: AgentAddress) => void): void;
  /** Lists the nodes of the swarm that have not left. */
  nodes(): Promise<readonly StoreNode[]>;
  /** Releases all instances and leaves the swarm. Call it after all processes of the node have ended. */
  leave(): Promise<void>;
}

export interface StoreNode {
  readonly name: string;
  readonly since: Date;
}
