/**
 * Named timers, for state machines that request them by the actions `timer.set` and `timer.clear`.
 *
 * Invariants: 1. A name has at most one timer; setting it again moves it. 2. A timer never fires early, even if its
 * time is beyond the longest delay of a system timer. 3. No timer fires after `clearAll`.
 */
import type { Clock } from '../../ports/clock.ts';

/** The longest delay of a system timer; a longer one would fire at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export class NamedTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #ring: (name: Name) => void;
  readonly #timers = new Map<Name, () => void>();

  constructor(clock: Clock, ring: (name: Name) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Sets a timer. `at`: the time on the monotonic clock. */
  set(name: Name, at: number): void {
    this.clear(name);
    const wait = Math.min(Math.max(0, at - this.#clock.elapsed()), LONGEST_WAIT_MS);
    const callOff = this.#clock.after(wait, () => {
      this.#timers.delete(name);
      if (this.#clock.elapsed() < at) return this.set(name, at);
      this.#ring(name);
    });
    this.#timers.set(name, callOff);
  }

  clear(name: Name): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
  }

  /** The number of timers that have not fired. */
  get size(): number {
    return this.#timers.size;
  }

  clearAll(): void {
    for (const name of [...this.#timers.keys()]) this.clear(name);
  }
}
