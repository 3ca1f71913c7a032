/** Time as a parameter, so that a test can stop it and a replay can freeze it. */
export interface Clock {
  now(): Date;
  /** Returns milliseconds on the monotonic clock, for durations. */
  elapsed(): number;
  /** Runs `action` once after `ms`. Returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

/** Read when the process starts, because bundle code later gets replacements (`agent/draws/`). */
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

/** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
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
 * Waits for `work`, but not longer than `ms`; after that it returns `undefined`. Rejects if `work` rejects in that
 * time.
 */
export async function waitAtMost<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Value | undefined> {
  let callOff = () => {};
  const late = new Promise<undefined>((resolve) => {
    callOff = clock.after(ms, () => resolve(undefined));
  });
  return Promise.race([work, late]).finally(callOff);
}
