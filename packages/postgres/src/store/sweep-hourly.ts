import type { Blobs } from '@goondan/runtime/history';
import { type Clock, systemClock } from '@goondan/runtime/internal';

/** The time from the end of a removal to the next one. */
const SWEEP_MS = 60 * 60 * 1000;

/**
 * Removes the files that a crash or a refused input left, now and every hour. Nobody waits, because these files only take
 * room. A node that closes meanwhile leaves the rest to others.
 */
export function sweepHourly(
  blobs: Pick<Blobs, 'sweep'>,
  { clock = systemClock, report }: { readonly clock?: Clock; readonly report: (problem: string) => void },
): { close(): void } {
  let callOff = () => {};
  let isClosed = false;
  const sweep = async () => {
    try {
      await blobs.sweep();
    } catch (error) {
      if (!isClosed) report(`Files that nobody uses could not be removed: ${String(error)}`);
    }
    if (!isClosed) callOff = clock.after(SWEEP_MS, () => void sweep());
  };
  void sweep();
  return {
    close() {
      isClosed = true;
      callOff();
    },
  };
}
