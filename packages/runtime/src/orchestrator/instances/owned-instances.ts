/**
 * The instances that belong to this node. The only node of a swarm on files owns every instance.
 *
 * Invariants: 1. An instance gets no process and no input here before its claim, and none after it was released or lost.
 * 2. A node that gives up its instances (`giveUp`) claims no other one. 3. The number of the last queued event is known
 * only for the present claim, and only after the input was read once.
 */
import type { AgentAddress } from '@goondan/types';
import type { Placement } from '../../store/placement.ts';
import { addressKey } from '../address/address-key.ts';

export class OwnedInstances {
  readonly #owned = new Map<string, { readonly address: AgentAddress; queued?: number }>();
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
    return [...this.#owned.values()].map(({ address }) => address);
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
    this.#owned.set(addressKey(at), { address: { agentName, instanceKey } });
    this.claimed(at);
    return true;
  }

  /** Notes that every event up to this number is queued. */
  queued(at: AgentAddress, seq: number): void {
    const own = this.#owned.get(addressKey(at));
    if (own) own.queued = Math.max(seq, own.queued ?? 0);
  }

  /** Returns true, and notes the event as queued, if every event before this number is queued. */
  isNext(at: AgentAddress, seq: number): boolean {
    const own = this.#owned.get(addressKey(at));
    if (own?.queued !== seq - 1) return false;
    own.queued = seq;
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
