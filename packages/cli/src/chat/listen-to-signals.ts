import { onStopSignal, type StopSignal } from '../stop-signals.ts';

/** SIGQUIT is Ctrl-\ at a terminal that is not taken over; elsewhere it ends a process as it always does. */
export type ChatSignal = StopSignal | 'SIGQUIT';

export interface ListenedSignals {
  /** Whom to tell from now on, in place of whoever was told before; the last one that nobody heard, too. */
  tell(listener: (signal: ChatSignal) => void): void;
  forget(): void;
}

/**
 * The signals that ask a process to end, from the chat to the end of the swarm without a gap: where nobody listens, a
 * signal ends the process, and a terminal that goes away sends two.
 */
export function listenToSignals(): ListenedSignals {
  let unheard: ChatSignal | undefined;
  let current: (signal: ChatSignal) => void = (signal) => {
    unheard = signal;
  };
  const onQuit = () => current('SIGQUIT');
  process.on('SIGQUIT', onQuit);
  const forget = onStopSignal((signal) => current(signal));
  return {
    forget() {
      process.off('SIGQUIT', onQuit);
      forget();
    },
    tell(listener) {
      current = listener;
      if (unheard !== undefined) listener(unheard);
      unheard = undefined;
    },
  };
}
