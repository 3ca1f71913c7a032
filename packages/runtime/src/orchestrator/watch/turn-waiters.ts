/** Callers that wait for the end of a turn, by instance and event. Each gets one answer. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import type { TurnEnd } from '../../control/swarm.ts';

const MOST_WAITING = 10_000;

export class TurnWaiters {
  readonly #waiters = new Map<string, Map<string, Set<PromiseWithResolvers<TurnEnd>>>>();
  #count = 0;
  /** The reason why waiting is no longer possible. */
  #over: { readonly error: unknown } | undefined;

  /** Waits for the end of a turn. `forget` ends the wait without an answer. **Errors** — `E_CALLS_FULL`. */
  wait(at: AgentAddress, eventId: string): { readonly end: Promise<TurnEnd>; readonly forget: () => void } {
    if (this.#count >= MOST_WAITING) {
      throw new GoondanError('E_CALLS_FULL', `${this.#count} callers wait for the end of a turn already.`);
    }
    const key = addressKey(at);
    const ofInstance = this.#waiters.get(key) ?? new Map<string, Set<PromiseWithResolvers<TurnEnd>>>();
    this.#waiters.set(key, ofInstance);
    const ofEvent = ofInstance.get(eventId) ?? new Set();
    ofInstance.set(eventId, ofEvent);
    const waiter = Promise.withResolvers<TurnEnd>();
    // A caller that called `forget` does not handle the rejection.
    waiter.promise.catch(() => undefined);
    if (this.#over !== undefined) waiter.reject(this.#over.error);
    ofEvent.add(waiter);
    this.#count += 1;
    return {
      end: waiter.promise,
      forget: () => {
        if (!ofEvent.delete(waiter)) return;
        this.#count -= 1;
        if (ofEvent.size === 0) this.#drop(key, ofInstance, eventId);
      },
    };
  }

  ended(at: AgentAddress, end: TurnEnd): void {
    for (const waiter of this.#take(addressKey(at), end.eventId)) waiter.resolve(end);
  }

  /** Rejects all waits for this instance, because no answer will come soon. */
  failed(at: AgentAddress, error: unknown): void {
    const key = addressKey(at);
    for (const eventId of [...(this.#waiters.get(key)?.keys() ?? [])]) {
      for (const waiter of this.#take(key, eventId)) waiter.reject(error);
    }
  }

  /** Rejects all current and later waits. */
  failAll(error: unknown): void {
    this.#over = { error };
    for (const [key, ofInstance] of [...this.#waiters]) {
      for (const eventId of [...ofInstance.keys()]) for (const waiter of this.#take(key, eventId)) waiter.reject(error);
    }
  }

  #take(key: string, eventId: string): readonly PromiseWithResolvers<TurnEnd>[] {
    const ofInstance = this.#waiters.get(key);
    const waiters = ofInstance?.get(eventId);
    if (ofInstance === undefined || waiters === undefined) return [];
    this.#drop(key, ofInstance, eventId);
    this.#count -= waiters.size;
    const taken = [...waiters];
    waiters.clear();
    return taken;
  }

  #drop(key: string, ofInstance: Map<string, unknown>, eventId: string): void {
    ofInstance.delete(eventId);
    if (ofInstance.size === 0) this.#waiters.delete(key);
  }
}
