/**
 * The instances that are held: those that wait for an approval, and those that wait for the answer of a held instance.
 * Requests to a held instance do not time out. Its callers are notified, so that their own deadlines are paused too.
 *
 * Requests have no cycle (`calls/wait-graph.ts`), so held instances have none either. While no tool call waits
 * for approval, nothing is computed here.
 */
import type { AgentAddress } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';

export interface HeldDeps {
  /** Lists the instances that wait for an approval themselves. */
  asking(): readonly AgentAddress[];
  /** Lists the instances that wait for an answer of this instance. */
  callersOf(address: AgentAddress): readonly AgentAddress[];
  /** Sets the instances to which requests do not time out. */
  holdRequests(held: ReadonlySet<string>): void;
  /** Tells the running turn of this instance whether it is held. Returns false when no turn is running. */
  tell(address: AgentAddress, isHeld: boolean): boolean;
}

export class HeldInstances {
  #held: ReadonlyMap<string, AgentAddress> = new Map();
  /** Instances that were notified. An instance that asked for an approval itself needs no message. */
  readonly #told = new Map<string, AgentAddress>();
  #onHeld: (address: AgentAddress) => void = () => undefined;

  constructor(private readonly deps: HeldDeps) {}

  get size(): number {
    return this.#held.size;
  }

  has(address: AgentAddress): boolean {
    return this.#held.size > 0 && this.#held.has(addressKey(address));
  }

  /** Calls `onHeld` for each instance that is held now, and for those that are held after each later change. */
  follow(onHeld: (address: AgentAddress) => void): void {
    this.#onHeld = onHeld;
    this.#held.forEach((address) => onHeld(address));
  }

  waitsChanged(): void {
    const asking = this.deps.asking();
    if (asking.length === 0 && this.#held.size === 0) return;
    this.#held = this.#withCallers(asking);
    this.deps.holdRequests(new Set(this.#held.keys()));
    const own = new Set(asking.map(addressKey));
    for (const [key, address] of [...this.#told]) {
      if (this.#held.has(key) && !own.has(key)) continue;
      this.#told.delete(key);
      this.deps.tell(address, false);
    }
    for (const [key, address] of this.#held) {
      if (own.has(key) || this.#told.has(key)) continue;
      if (this.deps.tell(address, true)) this.#told.set(key, address);
    }
    this.#held.forEach((address) => this.#onHeld(address));
  }

  /** Forgets that the instance was notified, because its next process must be notified again. */
  processGone(address: AgentAddress): void {
    this.#told.delete(addressKey(address));
  }

  #withCallers(asking: readonly AgentAddress[]): Map<string, AgentAddress> {
    const held = new Map<string, AgentAddress>();
    const open = [...asking];
    for (let address = open.pop(); address !== undefined; address = open.pop()) {
      const key = addressKey(address);
      if (held.has(key)) continue;
      held.set(key, address);
      open.push(...this.deps.callersOf(address));
    }
    return held;
  }
}
