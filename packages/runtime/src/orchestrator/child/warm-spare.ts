/**
 * Keeps one process that is started ahead of time and waits for its instance, so that a first message does not wait for
 * a process to start.
 *
 * Invariants: 1. At most one spare waits. 2. It is given away once. 3. One that dies is replaced with the same backoff
 * as any other process. 4. It delays no other process: a new spare starts when the one before has had time to begin its
 * work.
 */
import type { RestartPolicy } from '../../config/swarm-policy.ts';
import type { Clock } from '../../ports/clock.ts';
import { afterCrash, afterHealthy, noCrashes } from '../supervision/backoff.ts';

/** The pause after a spare was given away: that process starts first. */
const REFILL_MS = 100;

export class WarmSpare<Child extends { readonly exited: Promise<unknown>; kill(graceMs: number): Promise<unknown> }> {
  readonly #spawn: () => Child;
  readonly #clock: Clock;
  readonly #policy: RestartPolicy;
  #spare: { readonly child: Child; readonly since: number } | undefined;
  #restarts = noCrashes;
  #callOff: () => void = () => undefined;
  #isClosed = false;

  /** Stores `spawn`, which may throw. */
  constructor(spawn: () => Child, policy: RestartPolicy, clock: Clock) {
    this.#spawn = spawn;
    this.#policy = policy;
    this.#clock = clock;
  }

  /** Starts a spare when none waits and the backoff allows it. */
  fill(): void {
    if (this.#isClosed || this.#spare !== undefined) return;
    const wait = this.#restarts.notBefore - this.#clock.elapsed();
    if (wait > 0) return this.#fillAfter(wait);
    let child: Child;
    try {
      child = this.#spawn();
    } catch {
      // The next caller that needs a process meets the same problem and reports it.
      this.#restarts = afterCrash(this.#restarts, this.#policy, this.#clock.elapsed());
      return this.#fillAfter(REFILL_MS);
    }
    this.#spare = { child, since: this.#clock.elapsed() };
    void child.exited.then(() => this.#lost(child));
  }

  /** Gives the waiting spare to the caller. */
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
