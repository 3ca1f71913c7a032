/**
 * The outcomes of requests made by running turns, so that a resumed turn gets the same answer again.
 *
 * Invariants: 1. At most `most` outcomes are kept; the oldest is forgotten first. 2. Outcomes are removed when their
 * turn ends.
 */
import type { AgentAddress } from '@goondan/types';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { addressKey } from '../address/address-key.ts';

export class FinishedCalls {
  readonly #outcomes = new Map<string, { readonly caller: string; readonly outcome: CallOutcome }>();
  readonly #idsOf = new Map<string, Set<string>>();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.#outcomes.size;
  }

  get(id: string): CallOutcome | undefined {
    return this.#outcomes.get(id)?.outcome;
  }

  add(id: string, callerAddress: AgentAddress, outcome: CallOutcome): void {
    const caller = addressKey(callerAddress);
    this.#outcomes.set(id, { caller, outcome });
    const ids = this.#idsOf.get(caller) ?? new Set();
    this.#idsOf.set(caller, ids.add(id));
    if (this.#outcomes.size > this.most) this.#forgetOldest();
  }

  /** Removes the outcomes of the turn that ended at this address. */
  forget(callerAddress: AgentAddress): void {
    const caller = addressKey(callerAddress);
    for (const id of this.#idsOf.get(caller) ?? []) this.#outcomes.delete(id);
    this.#idsOf.delete(caller);
  }

  #forgetOldest(): void {
    const [oldest] = this.#outcomes;
    if (oldest === undefined) return;
    const [id, { caller }] = oldest;
    this.#outcomes.delete(id);
    const ids = this.#idsOf.get(caller);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsOf.delete(caller);
  }
}
