/**
 * Timers under names, for machines that ask for them by action: `timer.set`, `timer.clear`.
 *
 * Invariants: 1. A name has at most one timer; setting it again moves it. 2. It never rings early, not even when the
 * time is further away than the clock can count in one go. 3. Nothing rings after `clearAll`.
 */
import type { Clock } from '../../ports/clock.ts';

/** The longest wait a system's timer can count; a longer one would ring at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export class NamedTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #ring: (name: Name) => void;
  readonly #timers = new Map<Name, () => void>();

  constructor(clock: Clock, ring: (name: Name) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** `at` is on the clock that only grows. */
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

  /** How many have not rung. */
  get size(): number {
    return this.#timers.size;
  }

  clearAll(): void {
    for (const name of [...this.#timers.keys()]) this.clear(name);
  }
}
