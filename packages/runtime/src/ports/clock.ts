/** The clock is passed as a parameter, so that a test or a replay can control the time. */
export interface Clock {
  now(): Date;
  /** Returns milliseconds on the monotonic clock, for durations. */
  elapsed(): number;
  /** Runs `action` once after `ms`. Returns a function that cancels the timer. */
  after(ms: number, action: () => void): () => void;
}

/**
 * `Date` and `performance.now` are read when the process starts, because they are later replaced for bundle code
 * (`agent/draws/`).
 */
const SystemDate = Date;
const millisecondsSinceStart = performance.now.bind(performance);

export const systemClock: Clock = {
  now: () => new SystemDate(),
  elapsed: millisecondsSinceStart,
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`. Rejects with the signal's reason when the signal aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const giveUp = () => {
      callOff();
      reject(signal?.reason);
    };
    const callOff = clock.after(ms, () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

/**
 * Waits for `work`, at most for `ms`. Resolves with `undefined` if `work` takes longer, and rejects if `work` rejects
 * in time.
 */
export async function waitAtMost<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Value | undefined> {
  let callOff = () => {};
  const late = new Promise<undefined>((resolve) => {
    callOff = clock.after(ms, () => resolve(undefined));
  });
  return Promise.race([work, late]).finally(callOff);
}
