import { useEffect } from 'react';

/** The time for a commit to arrive here. */
const PATIENCE_MS = 1_000;

/**
 * Reads again when the number of messages on disk and on the page differ for a while: the conversation was reset, or
 * the notice of a commit was missed.
 */
export function useWhenMissed(there: number | undefined, read: number | undefined, readAgain: () => void): void {
  useEffect(() => {
    if (there === undefined || read === undefined || there === read) return;
    const timer = setTimeout(readAgain, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [there, read, readAgain]);
}
