/**
 * The timers that reading a body or sending a stream needs. The runtime's clock implements this interface; tests pass
 * their own.
 */
export interface Timers {
  /** Calls `action` once after this many milliseconds. Returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
