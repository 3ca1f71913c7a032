/** The numbers of the input that a simulated node has queued. It runs no other input, as the orchestrator does. */
import { addressKey } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';

interface Numbers {
  readonly queued: Set<number>;
  /** Every event up to this number is queued. */
  last: number;
}

export class SimulatedQueue {
  readonly #instances = new Map<string, Numbers>();

  /** Queues an event that this node accepted. Returns false if other nodes may have accepted input before it. */
  accepted(at: AgentAddress, seq: number): boolean {
    const numbers = this.#instances.get(addressKey(at));
    if (numbers?.last !== seq - 1) return false;
    numbers.last = seq;
    numbers.queued.add(seq);
    return true;
  }

  /** Queues all input of an instance. */
  read(at: AgentAddress, entries: readonly { readonly seq: number }[]): void {
    const { queued, last } = this.#instances.get(addressKey(at)) ?? { queued: new Set<number>(), last: -1 };
    for (const { seq } of entries) queued.add(seq);
    this.#instances.set(addressKey(at), { queued, last: Math.max(last, ...queued) });
  }

  has(at: AgentAddress, seq: number): boolean {
    return this.#instances.get(addressKey(at))?.queued.has(seq) === true;
  }

  forget(at: AgentAddress): void {
    this.#instances.delete(addressKey(at));
  }
}
