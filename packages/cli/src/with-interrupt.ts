import { exitCodes } from './exit-codes.ts';

/** Runs work that Ctrl-C, or any of `signals`, cancels: once asks it to stop, twice quits without waiting. */
export async function withInterrupt<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  signals: readonly NodeJS.Signals[] = ['SIGINT'],
): Promise<Value> {
  const controller = new AbortController();
  const onInterrupt = () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onInterrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, onInterrupt);
  }
}
