import { exitCodes } from './exit-codes.ts';

/** Delays quitting until the promise `until` settles, but at most by `QUIT_MS`. */
export type HoldQuit = (until: Promise<unknown>) => void;

/**
 * Lets `handler` handle the next Ctrl-C, in place of a cancel. The returned function takes that back. One handler is
 * kept: the newest.
 */
export type TakeInterrupt = (handler: () => void) => () => void;

/** The maximum time that quitting waits, so that a cancel can be recorded. */
const QUIT_MS = 2_000;

/**
 * Runs work that Ctrl-C, or any of `signals`, cancels. The first signal asks the work to stop, the second quits when
 * the promises given to `holdQuit` have settled, and the third quits at once. A handler given to `takeInterrupt` gets the
 * first Ctrl-C instead. `onQuit` is called before the process exits without the end of the work.
 */
export async function withInterrupt<Value>(
  work: (signal: AbortSignal, holdQuit: HoldQuit, takeInterrupt: TakeInterrupt) => Promise<Value>,
  signals: readonly NodeJS.Signals[] = ['SIGINT'],
  onQuit: () => void = () => undefined,
): Promise<Value> {
  const controller = new AbortController();
  const held = new Set<Promise<unknown>>();
  let isQuitting = false;
  const quit = () => {
    onQuit();
    process.exit(exitCodes.interrupted);
  };
  let taken: (() => void) | undefined;
  const takeInterrupt: TakeInterrupt = (handler) => {
    taken = handler;
    return () => void (taken = taken === handler ? undefined : taken);
  };
  const onInterrupt = (name: NodeJS.Signals) => {
    const handler = taken;
    taken = undefined;
    if (name === 'SIGINT' && handler !== undefined) return handler();
    if (!controller.signal.aborted) return controller.abort();
    if (isQuitting || held.size === 0) return quit();
    isQuitting = true;
    void Promise.race([Promise.allSettled(held), Bun.sleep(QUIT_MS)]).then(quit);
  };
  const holdQuit: HoldQuit = (until) => {
    held.add(until);
    void until.catch(() => undefined).then(() => held.delete(until));
  };
  for (const signal of signals) process.on(signal, onInterrupt);
  try {
    return await work(controller.signal, holdQuit, takeInterrupt);
  } finally {
    for (const signal of signals) process.off(signal, onInterrupt);
  }
}

export function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((settle) => {
    if (signal.aborted) settle(undefined);
    signal.addEventListener('abort', () => settle(undefined), { once: true });
  });
}
