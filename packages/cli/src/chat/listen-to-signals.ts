import { onStopSignal, type StopSignal } from '../stop-signals.ts';

/**
 * The signals that a chat handles. SIGQUIT is one of them, because Ctrl-\ sends it unless the terminal is in raw mode.
 */
export type ChatSignal = StopSignal | 'SIGQUIT';

/**
 * Listens to the signals that ask a process to end, from before the chat until the swarm has stopped. There is always a
 * listener, because a signal without a listener would end the process at once, and a closing terminal sends two
 * signals.
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
