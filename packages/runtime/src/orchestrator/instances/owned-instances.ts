/**
 * The instances that belong to this node. The only node of a swarm on files owns every instance.
 *
 * Invariants: 1. An instance gets no process and no input here before its claim, and none after it was released or lost.
 * 2. A node that gives up its instances (`giveUp`) claims no other one.
 */
import type { AgentAddress } from '@goondan/types';
import type { Placement } from '../../store/placement.ts';
import { addressKey } from '../address/address-key.ts';

export class OwnedInstances {
  readonly #owned = new Map<string, AgentAddress>();
  #givesUp = false;

  /** `isAlone`: true if the swarm cannot have other nodes. `claimed` is called after each new claim. */
  constructor(
    private readonly placement: Pick<Placement, 'claim' | 'release'>,
    private readonly isAlone: boolean,
    private readonly claimed: (at: AgentAddress) => void = () => undefined,
  ) {}

  get givesUp(): boolean {
    return this.#givesUp;
  }

  has(at: AgentAddress): boolean {
    return this.isAlone || this.#owned.has(addressKey(at));
  }

  all(): readonly AgentAddress[] {
    return [...this.#owned.values()];
  }

  /**
   * Makes this node the owner. Returns false if another node owns the instance. A claim that the store cannot answer
   * returns false too: the store wakes this node, or another one, when it can be reached.
   */
  async claim(at: AgentAddress): Promise<boolean> {
    if (this.isAlone) return this.placement.claim(at);
    if (this.has(at)) return true;
    if (this.#givesUp) return false;
    const isOwned = await this.placement.claim(at).catch(() => false);
    const { agentName, instanceKey } = at;
    if (!isOwned) return false;
    this.#owned.set(addressKey(at), { agentName, instanceKey });
    this.claimed(at);
    return true;
  }

  /** Gives the instance to other nodes. If the store cannot be told, this node stays the owner in its view. */
  async release(at: AgentAddress): Promise<void> {
    if (!this.isAlone && !this.#owned.delete(addressKey(at))) return;
    await this.placement.release(at);
  }

  /** Notes that the instance belongs to another node. */
  lost(at: AgentAddress): void {
    this.#owned.delete(addressKey(at));
  }

  /** From now on, this node claims no instance. */
  giveUp(): void {
    this.#givesUp = true;
  }
}
