/** The signals that ask a process to end: one that serves a swarm, or one that has to clean up. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignal = (typeof stopSignals)[number];

/** Calls the listener for each of them, until the returned function is called. */
export function onStopSignal(listener: (signal: StopSignal) => void): () => void {
  for (const signal of stopSignals) process.on(signal, listener);
  return () => {
    for (const signal of stopSignals) process.off(signal, listener);
  };
}
