import { useEffect } from 'react';

/** How long a commit may take to reach the page. */
const PATIENCE_MS = 1_000;

/**
 * Reads again when the page shows another number of messages than the disk has, for longer than `PATIENCE_MS`: the
 * conversation was reset, or the notice of a commit was missed.
 */
export function useWhenMissed(there: number | undefined, read: number | undefined, readAgain: () => void): void {
  useEffect(() => {
    if (there === undefined || read === undefined || there === read) return;
    const timer = setTimeout(readAgain, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [there, read, readAgain]);
}
