/** A swarm may come up or go away in another process at any moment: what meets one on its way is tried again. */
import { sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/** What a swarm that goes away says, or its socket. */
export const goneCodes: readonly string[] = ['E_SWARM_STOPPED', 'E_CONTROL_CLOSED'];

/** Tries again, for a while, when another process is about to serve the workspace, or to leave it. */
export async function betweenSwarms<Value>(
  attempt: (isAgain: boolean) => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const deadline = systemClock.elapsed() + PATIENCE_MS;
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await attempt(isAgain);
    } catch (error) {
      const isInBetween = !signal.aborted && isChanging(error);
      if (!isInBetween || systemClock.elapsed() > deadline) throw error;
    }
    await sleep(systemClock, AGAIN_MS);
  }
}

function isChanging(error: unknown): boolean {
  return error instanceof GoondanError && ['E_SWARM_RUNNING', ...goneCodes].includes(error.code);
}
