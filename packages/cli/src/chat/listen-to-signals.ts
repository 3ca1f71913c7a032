import { onStopSignal, type StopSignal } from '../stop-signals.ts';

/** At a terminal in its normal mode, Ctrl-\ sends SIGQUIT; elsewhere SIGQUIT ends a process as usual. */
export type ChatSignal = StopSignal | 'SIGQUIT';

export interface ListenedSignals {
  /** Replaces the listener; a signal that was not handled yet goes to the new listener. */
  tell(listener: (signal: ChatSignal) => void): void;
  forget(): void;
}

/**
 * Listens to the signals that ask a process to end, without a gap between the chat and the stop of the swarm. A signal
 * without a listener would end the process, and a closing terminal sends two.
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
