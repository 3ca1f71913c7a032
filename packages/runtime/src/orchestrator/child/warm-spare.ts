/**
 * Keeps one process that is started ahead of time and waits for its instance, so that the first message of an instance
 * does not wait for a process to start.
 *
 * Invariants: 1. At most one spare exists. 2. It is given away once. 3. A spare that dies is replaced with the same
 * backoff as any other process. 4. A spare delays no other process: the next spare starts only after the last spare
 * that was given away has had time to start its work.
 */
import type { RestartPolicy } from '../../config/swarm-policy.ts';
import type { Clock } from '../../ports/clock.ts';
import { afterCrash, afterHealthy, noCrashes } from '../supervision/backoff.ts';

/** The pause after a spare was given away, so that its agent starts first. */
const REFILL_MS = 100;

export class WarmSpare<Child extends { readonly exited: Promise<unknown>; kill(graceMs: number): Promise<unknown> }> {
  readonly #spawn: () => Child;
  readonly #clock: Clock;
  readonly #policy: RestartPolicy;
  #spare: { readonly child: Child; readonly since: number } | undefined;
  #restarts = noCrashes;
  #callOff: () => void = () => undefined;
  #isClosed = false;

  /** `spawn` may throw. */
  constructor(spawn: () => Child, policy: RestartPolicy, clock: Clock) {
    this.#spawn = spawn;
    this.#policy = policy;
    this.#clock = clock;
  }

  /** Starts a spare if there is none and the backoff allows it. */
  fill(): void {
    if (this.#isClosed || this.#spare !== undefined) return;
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
    this.#spare = { child, since: this.#clock.elapsed() };
    void child.exited.then(() => this.#lost(child));
  }

  /** Returns the spare, if there is one, and gives it up. */
  take(): Child | undefined {
    const taken = this.#spare;
    if (taken === undefined) return undefined;
    this.#spare = undefined;
    this.#restarts = afterHealthy(this.#restarts, this.#policy, this.#clock.elapsed() - taken.since);
    this.#fillAfter(REFILL_MS);
    return taken.child;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff();
    const taken = this.#spare;
    this.#spare = undefined;
    await taken?.child.kill(0);
  }

  #fillAfter(ms: number): void {
    this.#callOff();
    if (this.#isClosed) return;
    this.#callOff = this.#clock.after(ms, () => this.fill());
  }

  #lost(child: Child): void {
    if (this.#spare?.child !== child) return;
    this.#spare = undefined;
    this.#restarts = afterCrash(this.#restarts, this.#policy, this.#clock.elapsed());
    this.#fillAfter(REFILL_MS);
  }
}
