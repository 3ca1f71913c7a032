/** The clock, replaceable for tests. */
export interface Clock {
  /** The monotonic time in milliseconds. */
  elapsed(): number;
  /** Runs `action` once after `ms`; returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  elapsed: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    // A timer for a server must not keep the process alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
