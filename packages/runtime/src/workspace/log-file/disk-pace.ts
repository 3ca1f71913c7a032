/**
 * Decides whether durable writes go through to the device at once or are synced in the background. A write that goes
 * through needs a third of the time of a sync on a quick disk, but blocks the thread, which a slow disk would do for
 * long. All log files of a process share one pace, because they are on one disk.
 *
 * 1. At most `SLOW_IN_A_ROW` slow writes block the thread before writes are synced in the background.
 * 2. After that one write in `WRITES_PER_TRIAL` goes through, to find out whether the disk has become quick.
 */
import type { Clock } from '../../ports/clock.ts';

const SLOW_MS = 2;
const SLOW_IN_A_ROW = 2;
const WRITES_PER_TRIAL = 64;

export class DiskPace {
  #slowInARow = 0;
  #background = 0;

  constructor(private readonly clock: Clock) {}

  /** Returns true if the next durable write goes through. Counts the writes for which it returns false. */
  goesThrough(): boolean {
    if (this.#slowInARow < SLOW_IN_A_ROW) return true;
    this.#background = (this.#background + 1) % WRITES_PER_TRIAL;
    return this.#background === 0;
  }

  /** Starts the measurement of a write that goes through. */
  start(): number {
    return this.clock.elapsed();
  }

  /** Ends the measurement that began at this time. */
  end(startedAt: number): void {
    const isSlow = this.clock.elapsed() - startedAt > SLOW_MS;
    this.#slowInARow = isSlow ? this.#slowInARow + 1 : 0;
  }
}
