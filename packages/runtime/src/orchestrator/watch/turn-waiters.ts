/** Callers that wait for the end of a turn, by instance. Each gets one answer. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import type { TurnEnd } from '../../control/swarm.ts';

const MOST_WAITING = 10_000;

export class TurnWaiters {
  readonly #waiters = new Map<string, Set<PromiseWithResolvers<TurnEnd> & { readonly eventId: string }>>();
  #count = 0;
  /** The reason why waiting is no longer possible. */
  #over: { readonly error: unknown } | undefined;

  /** Waits for the end of a turn. `forget` ends the wait without an answer. **Errors** — `E_CALLS_FULL`. */
  wait(at: AgentAddress, eventId: string): { readonly end: Promise<TurnEnd>; readonly forget: () => void } {
    if (this.#count >= MOST_WAITING) {
      throw new GoondanError('E_CALLS_FULL', `${this.#count} callers wait for the end of a turn already.`);
    }
    const key = addressKey(at);
    const waiter = { ...Promise.withResolvers<TurnEnd>(), eventId };
    // A caller that called `forget` does not handle the rejection.
    waiter.promise.catch(() => undefined);
    if (this.#over !== undefined) waiter.reject(this.#over.error);
    this.#waiters.set(key, (this.#waiters.get(key) ?? new Set()).add(waiter));
    this.#count += 1;
    return { end: waiter.promise, forget: () => void this.#take(key, (each) => each === waiter) };
  }

  ended(at: AgentAddress, end: TurnEnd): void {
    for (const { resolve } of this.#take(addressKey(at), ({ eventId }) => eventId === end.eventId)) resolve(end);
  }

  /** Rejects all waits for this instance, because no answer will come soon. */
  failed(at: AgentAddress, error: unknown): void {
    for (const { reject } of this.#take(addressKey(at), () => true)) reject(error);
  }

  /** Rejects all current and later waits. */
  failAll(error: unknown): void {
    this.#over = { error };
    for (const key of [...this.#waiters.keys()]) for (const { reject } of this.#take(key, () => true)) reject(error);
  }

  /** Removes the waiters of an instance for which `fits` returns true, and returns them. */
  #take(key: string, fits: (waiter: PromiseWithResolvers<TurnEnd> & { readonly eventId: string }) => boolean) {
    const waiters = this.#waiters.get(key) ?? new Set();
    const taken = [...waiters].filter(fits);
    for (const waiter of taken) waiters.delete(waiter);
    this.#count -= taken.length;
    if (waiters.size === 0) this.#waiters.delete(key);
    return taken;
  }
}
