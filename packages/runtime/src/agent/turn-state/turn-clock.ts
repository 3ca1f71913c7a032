/**
 * The clock of one turn. While the turn waits for a person, the clock is paused with all its deadlines: those of the
 * turn, its layers, its tools and its model calls. Pauses nest.
 *
 * One timer of the world's clock serves all deadlines. It is set again only for a deadline that comes earlier than it
 * rings. When it rings too early, because its deadline was called off, it is set for the next one.
 */
import type { Clock } from '../../ports/clock.ts';

interface Deadline {
  /** In the time of this clock. */
  readonly dueAt: number;
  readonly action: () => void;
}

export class TurnClock implements Clock {
  readonly #deadlines = new Set<Deadline>();
  #timer: { readonly ringsAt: number; readonly callOff: () => void } | undefined;
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
    const deadline = { dueAt: this.elapsed() + Math.max(0, ms), action };
    this.#deadlines.add(deadline);
    this.#setTimer(deadline.dueAt);
    return () => {
      this.#deadlines.delete(deadline);
      if (this.#deadlines.size === 0) this.#stopTimer();
    };
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#pausedAt = this.clock.elapsed();
    this.#stopTimer();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    this.#paused += this.clock.elapsed() - this.#pausedAt;
    this.#setTimer(this.#earliest());
  }

  #earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#deadlines) earliest = Math.min(earliest, dueAt);
    return earliest;
  }

  #setTimer(ringsAt: number): void {
    if (this.#pauses > 0 || ringsAt >= (this.#timer?.ringsAt ?? Number.POSITIVE_INFINITY)) return;
    this.#timer?.callOff();
    const callOff = this.clock.after(Math.max(0, ringsAt - this.elapsed()), () => this.#ring());
    this.#timer = { ringsAt, callOff };
  }

  #stopTimer(): void {
    this.#timer?.callOff();
    this.#timer = undefined;
  }

  #ring(): void {
    // A timer may ring a little before the time that the monotonic clock shows.
    const now = Math.max(this.elapsed(), this.#timer?.ringsAt ?? 0);
    this.#timer = undefined;
    const due = [...this.#deadlines].filter(({ dueAt }) => dueAt <= now).toSorted((a, b) => a.dueAt - b.dueAt);
    for (const deadline of due) {
      // An earlier action may have called this one off, or have paused the clock.
      if (this.#pauses === 0 && this.#deadlines.delete(deadline)) deadline.action();
    }
    this.#setTimer(this.#earliest());
  }
}
