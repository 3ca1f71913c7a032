/**
 * The clock of one turn. While the turn waits for a person, the clock is paused with all its deadlines: those of the
 * turn, its layers, its tools and its model calls. Pauses nest.
 */
import type { Clock } from '../../ports/clock.ts';
import { OwnTimeTimer } from '../own-time-timer.ts';

export class TurnClock implements Clock {
  readonly #timers = new Set<OwnTimeTimer>();
  #pauses = 0;
  #pausedAt = 0;
  /** The total duration of all earlier pauses. */
  #paused = 0;

  constructor(private readonly clock: Clock) {}

  /** Returns the time of day, which is never paused. */
  now(): Date {
    return this.clock.now();
  }

  elapsed(): number {
    return (this.#pauses > 0 ? this.#pausedAt : this.clock.elapsed()) - this.#paused;
  }

  after(ms: number, action: () => void): () => void {
    const timer = new OwnTimeTimer(this.clock, ms, () => {
      this.#timers.delete(timer);
      action();
    });
    this.#timers.add(timer);
    if (this.#pauses > 0) timer.pause();
    timer.start();
    return () => {
      this.#timers.delete(timer);
      timer.stop();
    };
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#pausedAt = this.clock.elapsed();
    for (const timer of this.#timers) timer.pause();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    this.#paused += this.clock.elapsed() - this.#pausedAt;
    for (const timer of this.#timers) timer.resume();
  }
}
