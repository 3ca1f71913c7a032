import { onStopSignal, type StopSignal } from '../stop-signals.ts';

export interface ListenedSignals {
  /** Whom to tell from now on, in place of whoever was told before; the last one that nobody heard, too. */
  tell(listener: (signal: StopSignal) => void): void;
  forget(): void;
}

/**
 * The signals that ask a process to end, from the chat to the end of the swarm without a gap: where nobody listens, a
 * signal ends the process, and a terminal that goes away sends two.
 */
export function listenToSignals(): ListenedSignals {
  let unheard: StopSignal | undefined;
  let current: (signal: StopSignal) => void = (signal) => {
    unheard = signal;
  };
  const forget = onStopSignal((signal) => current(signal));
  return {
    forget,
    tell(listener) {
      current = listener;
      if (unheard !== undefined) listener(unheard);
      unheard = undefined;
    },
  };
}
