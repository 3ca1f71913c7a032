/**
 * The instances that wait for people: those whose own calls do, and those that asked one of them and wait for its answer.
 * While an instance is held, requests to it do not run out of time; and those who asked are told, so that their own
 * deadlines stand still too.
 *
 * Who asks whom has no circle (`calls/wait-graph.ts`), so neither has this. With nobody asking it costs nothing.
 */
import type { AgentAddress } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';

export interface HeldDeps {
  /** Those whose own calls wait for people. */
  asking(): readonly AgentAddress[];
  /** Those that wait for an answer of this one. */
  callersOf(address: AgentAddress): readonly AgentAddress[];
  /** Requests to these do not run out of time; all others do. */
  holdRequests(held: ReadonlySet<string>): void;
  /** Tells the turn that runs there; false when there is none to be told. */
  tell(address: AgentAddress, isHeld: boolean): boolean;
}

export class HeldInstances {
  readonly #deps: HeldDeps;
  #held: ReadonlyMap<string, AgentAddress> = new Map();
  /** Those who know that they are. One that asks itself needs not be told. */
  readonly #told = new Map<string, AgentAddress>();

  constructor(deps: HeldDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#held.size;
  }

  has(address: AgentAddress): boolean {
    return this.#held.size > 0 && this.#held.has(addressKey(address));
  }

  waitsChanged(): void {
    const asking = this.#deps.asking();
    if (asking.length === 0 && this.#held.size === 0) return;
    this.#held = this.#withCallers(asking);
    this.#deps.holdRequests(new Set(this.#held.keys()));
    const own = new Set(asking.map(addressKey));
    for (const [key, address] of [...this.#told]) {
      if (this.#held.has(key) && !own.has(key)) continue;
      this.#told.delete(key);
      this.#deps.tell(address, false);
    }
    for (const [key, address] of this.#held) {
      if (own.has(key) || this.#told.has(key)) continue;
      if (this.#deps.tell(address, true)) this.#told.set(key, address);
    }
  }

  /** What it was told went with it. */
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
      open.push(...this.#deps.callersOf(address));
    }
    return held;
  }
}
