import { onStopSignal, type StopSignal } from '../stop-signals.ts';

/** At a terminal in its normal mode, Ctrl-\ sends SIGQUIT; elsewhere SIGQUIT ends a process as usual. */
export type ChatSignal = StopSignal | 'SIGQUIT';

/**
 * Listens to the signals that ask a process to end, without a gap between the chat and the stop of the swarm. A signal
 * without a listener would end the process, and a closing terminal sends two.
 */
export function listenToSignals() {
  let unheard: ChatSignal | undefined;
  let current: (signal: ChatSignal) => void = (signal) => {
    unheard = signal;
  };
  const onQuit = () => current('SIGQUIT');
  process.on('SIGQUIT', onQuit);
  const forget = onStopSignal((signal) => current(signal));
  return {
    forget(): void {
      process.off('SIGQUIT', onQuit);
      forget();
    },
    /** Replaces the listener; a signal that was not handled yet goes to the new listener. */
    tell(listener: (signal: ChatSignal) => void): void {
      current = listener;
      if (unheard !== undefined) listener(unheard);
      unheard = undefined;
    },
  };
}
