import { useEffect } from 'react';

/** So long what was committed may be on its way here. */
const PATIENCE_MS = 1_000;

/**
 * Reads again when a conversation has another number of messages than were read of it, for longer than it takes to read
 * them: somebody reset it, or nobody listened when a turn was committed.
 */
export function useWhenMissed(there: number | undefined, read: number | undefined, readAgain: () => void): void {
  useEffect(() => {
    if (there === undefined || read === undefined || there === read) return;
    const timer = setTimeout(readAgain, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [there, read, readAgain]);
}
