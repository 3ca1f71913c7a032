/**
 * Instances of this node that sleep. After a while each is released, so that the least loaded node takes its next input.
 * Until then it stays where its files and caches are warm.
 */
import type { AgentAddress } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import { addressKey } from '../address/address-key.ts';
import type { OwnedInstances } from './owned-instances.ts';

/** The time after which a sleeping instance is released. */
export const REST_MS = 60_000;

export interface RestingDeps {
  readonly clock: Clock;
  readonly owned: Pick<OwnedInstances, 'has'>;
  /** Releases the instance, unless it has work again. */
  release(at: AgentAddress): Promise<void>;
}

export class RestingInstances {
  /** Sleeping instances by key, with the time of their release, earliest first. Their number is bounded by the claims. */
  readonly #resting = new Map<string, { readonly at: AgentAddress; readonly until: number }>();
  #callOff: (() => void) | undefined;
  #isClosed = false;

  constructor(private readonly deps: RestingDeps) {}

  slept(at: AgentAddress): void {
    if (this.#isClosed || !this.deps.owned.has(at)) return;
    const key = addressKey(at);
    this.#resting.delete(key);
    this.#resting.set(key, { at, until: this.deps.clock.elapsed() + REST_MS });
    this.#callOff ??= this.deps.clock.after(REST_MS, () => void this.#look());
  }

  close(): void {
    this.#isClosed = true;
    this.#callOff?.();
  }

  async #look(): Promise<void> {
    const now = this.deps.clock.elapsed();
    for (const [key, { at, until }] of this.#resting) {
      if (until > now || this.#isClosed) break;
      this.#resting.delete(key);
      // A store that is away learns of it when the node leaves.
      await this.deps.release(at).catch(() => undefined);
    }
    const [next] = this.#resting.values();
    const wait = next && Math.max(1, next.until - this.deps.clock.elapsed());
    this.#callOff =
      wait === undefined || this.#isClosed ? undefined : this.deps.clock.after(wait, () => void this.#look());
  }
}
