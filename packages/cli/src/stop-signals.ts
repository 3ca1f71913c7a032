/** The signals that ask a process to end, for processes that serve a swarm or have to clean up. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignal = (typeof stopSignals)[number];

/** Calls the listener for each stop signal, until the returned function is called. */
export function onStopSignal(listener: (signal: StopSignal) => void): () => void {
  for (const signal of stopSignals) process.on(signal, listener);
  return () => {
    for (const signal of stopSignals) process.off(signal, listener);
  };
}
