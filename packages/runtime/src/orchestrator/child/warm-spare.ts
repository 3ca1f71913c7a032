/**
 * Keeps processes that are started ahead of time and wait for their instances, so that the first message of an instance
 * does not wait for a process to start.
 *
 * Invariants: 1. At most `size` spares exist, and they are started one after the other. 2. Each is given away once. 3. A spare that dies is replaced with the same
 * backoff as any other process. 4. A spare delays no other process: the next spare starts only after the last spare
 * that was given away, and the processes that were needed while there was none, have had time to start their work. If
 * such processes keep coming, the spare waits a second at most.
 */
import type { RestartPolicy } from '../../config/swarm-policy.ts';
import type { Clock } from '../../ports/clock.ts';
import { afterCrash, afterHealthy, noCrashes } from '../supervision/backoff.ts';

/** The pause after a spare was given away, so that its agent starts first. */
const REFILL_MS = 100;
/** The longest time without a spare because other processes start. */
const LONGEST_EMPTY_MS = 1_000;

export class WarmSpare<Child extends { readonly exited: Promise<unknown>; kill(graceMs: number): Promise<unknown> }> {
  readonly #spawn: () => Child;
  readonly #clock: Clock;
  readonly #policy: RestartPolicy;
  readonly #size: number;
  /** The spares with the times of their starts, oldest first. */
  readonly #spares = new Map<Child, number>();
  #restarts = noCrashes;
  /** The time since which the last spare is given away. */
  #emptySince = Number.NEGATIVE_INFINITY;
  #callOff: () => void = () => undefined;
  #isClosed = false;

  /** `spawn` may throw. */
  constructor(spawn: () => Child, policy: RestartPolicy, clock: Clock, size = 1) {
    this.#spawn = spawn;
    this.#policy = policy;
    this.#clock = clock;
    this.#size = size;
  }

  /** Starts a spare if there are too few and the backoff allows it. The others follow. */
  fill(): void {
    if (this.#isClosed || this.#spares.size >= this.#size) return;
    const wait = this.#restarts.notBefore - this.#clock.elapsed();
    if (wait > 0) return this.#fillAfter(wait);
    let child: Child;
    try {
      child = this.#spawn();
    } catch {
      // The error is not reported here, because the next caller that needs a process gets the same error and reports
      // it.
      this.#restarts = afterCrash(this.#restarts, this.#policy, this.#clock.elapsed());
      return this.#fillAfter(REFILL_MS);
    }
    this.#spares.set(child, this.#clock.elapsed());
    void child.exited.then(() => this.#lost(child));
    if (this.#spares.size < this.#size) this.#fillAfter(REFILL_MS);
  }

  /** Returns the oldest spare, if there is one, and gives it up. If there is none, the caller starts a process itself. */
  take(): Child | undefined {
    const [oldest] = this.#spares;
    if (oldest === undefined) {
      if (this.#clock.elapsed() + REFILL_MS - this.#emptySince <= LONGEST_EMPTY_MS) this.#fillAfter(REFILL_MS);
      return undefined;
    }
    const [child, since] = oldest;
    this.#spares.delete(child);
    if (this.#spares.size === 0) this.#emptySince = this.#clock.elapsed();
    this.#restarts = afterHealthy(this.#restarts, this.#policy, this.#clock.elapsed() - since);
    this.#fillAfter(REFILL_MS);
    return child;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff();
    const left = [...this.#spares.keys()];
    this.#spares.clear();
    await Promise.all(left.map((child) => child.kill(0)));
  }

  #fillAfter(ms: number): void {
    this.#callOff();
    if (this.#isClosed) return;
    this.#callOff = this.#clock.after(ms, () => this.fill());
  }

  #lost(child: Child): void {
    if (!this.#spares.delete(child)) return;
    this.#restarts = afterCrash(this.#restarts, this.#policy, this.#clock.elapsed());
    this.#fillAfter(REFILL_MS);
  }
}
