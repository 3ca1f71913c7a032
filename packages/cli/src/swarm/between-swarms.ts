/** Another process may start or stop a swarm at any moment. Work that fails because of such a change is retried. */
import { sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/** The error codes of a swarm that stops, or whose socket is closed. */
export const goneCodes: readonly string[] = ['E_SWARM_STOPPED', 'E_CONTROL_CLOSED'];

/**
 * Runs `attempt`, and repeats it for a while when another process is about to start or stop the swarm of the workspace.
 * `isAgain` is true for a repetition.
 */
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
  return GoondanError.is(error) && ['E_SWARM_RUNNING', ...goneCodes].includes(error.code);
}
