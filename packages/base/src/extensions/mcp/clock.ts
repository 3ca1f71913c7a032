/** Time as a parameter. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  elapsed(): number;
  /** Runs `action` once after `ms`; returns what calls it off. */
  after(ms: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  elapsed: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    // Waiting for a server is no reason for a process to stay.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
