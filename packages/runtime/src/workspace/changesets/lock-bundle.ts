/**
 * The lock of a bundle: held while files of the bundle are replaced, so that one process does this at a time. The system
 * releases it when the process ends, however it ends.
 */
import { GoondanError } from '@goondan/types';
import { type Clock, sleep } from '../../ports/clock.ts';
import type { Flock } from '../../ports/flock.ts';
import { lockWorkspace } from '../lock/lock-workspace.ts';

/** Takes the lock of a file, and waits at most `waitMs` for it. **Errors** — `E_CHANGESET_BUSY`, `E_STATE_ROOT`, `E_STORE_WRITE`. */
export type TakeLock = (path: string, waitMs: number) => Promise<{ release(): void }>;

const PAUSE_MS = 50;

/** Returns the lock of the system; without `flock`, a lock that excludes nobody. */
export function systemLock(flock: Flock | undefined, clock: Clock): TakeLock {
  return async (path, waitMs) => {
    const until = clock.elapsed() + waitMs;
    for (;;) {
      try {
        return await lockWorkspace({ path, flock, text: String(process.pid), refusal: async (read) => busy(read()) });
      } catch (error) {
        if (!isBusy(error) || clock.elapsed() >= until) throw error;
      }
      await sleep(clock, PAUSE_MS);
    }
  };
}

export function isBusy(error: unknown): boolean {
  return GoondanError.is(error) && error.code === 'E_CHANGESET_BUSY';
}

function busy(holder: string): GoondanError {
  const who = /^\d+$/.test(holder) ? `Process ${holder}` : 'Another process';
  return new GoondanError('E_CHANGESET_BUSY', `${who} is replacing files of this bundle for a changeset.`);
}
