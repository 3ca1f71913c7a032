/**
 * Settles like `work`, or rejects with the signal's reason as soon as the signal aborts. If `work` settles after that,
 * its result is ignored.
 */
export function unlessAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void Promise.resolve(work)
      .finally(() => signal.removeEventListener('abort', giveUp))
      .then(resolve, reject);
  });
}
