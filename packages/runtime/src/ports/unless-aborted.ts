/** Settles like `work`, or rejects at once with the reason of `signal` when that aborts. A late end of `work` is ignored. */
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
