/** The signals that ask a process that serves to end. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignal = (typeof signals)[number];

/** Tells of each of them, until what it returns is called. */
export function onStopSignal(listener: (signal: StopSignal) => void): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}
