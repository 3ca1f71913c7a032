/** A clock that a test advances by hand, to test deadlines and durations without waiting. */
import type { Clock } from '../ports/clock.ts';

export interface ManualClock extends Clock {
  /**
   * Moves the time forward. Timers that are due run in order. After each timer, all promises settle before the time
   * moves on.
   */
  advance(ms: number): Promise<void>;
  /** The number of timers that are set. */
  readonly pending: number;
}

export function manualClock(start: Date = new Date('2026-01-01T00:00:00Z')): ManualClock {
  const timers = new Set<{ readonly dueAt: number; readonly action: () => void }>();
  let elapsed = 0;
  return {
    now: () => new Date(start.getTime() + elapsed),
    elapsed: () => elapsed,
    after(ms, action) {
      const timer = { dueAt: elapsed + Math.max(0, ms), action };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (;;) {
        const [next] = [...timers].filter(({ dueAt }) => dueAt <= end).toSorted((a, b) => a.dueAt - b.dueAt);
        if (next === undefined) break;
        timers.delete(next);
        elapsed = next.dueAt;
        next.action();
        await settle();
      }
      elapsed = end;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Resolves when all pending promises have run. */
function settle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
