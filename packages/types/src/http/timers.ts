/** The timers that a body or a stream needs. The clock of the runtime is one; tests bring their own. */
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
