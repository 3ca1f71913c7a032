/** Another process may start or stop a swarm at any moment. Work that fails because of such a change is retried. */
import { sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/** The error codes of a swarm that stops, or whose socket is closed. */
const goneCodes: readonly string[] = ['E_SWARM_STOPPED', 'E_CONTROL_CLOSED'];

/** Tells whether the swarm stops or has stopped. */
export function isGone(error: unknown): error is GoondanError {
  return GoondanError.is(error) && goneCodes.includes(error.code);
}

/**
 * Runs `attempt`, and repeats it for a while when another process is about to start or stop the swarm of the workspace.
 * `isAgain` is true for a repetition. An attempt that calls `onReached` has reached a swarm, so the next one has the
 * whole time again.
 *
 * **Errors** — `E_CANCELLED` when `signal` aborts in between, and those of `attempt`.
 */
export async function betweenSwarms<Value>(
  attempt: (isAgain: boolean, onReached: () => void) => Promise<Value>,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  let deadline = systemClock.elapsed() + patienceMs;
  for (let isAgain = false; ; isAgain = true) {
    let hasReached = false;
    try {
      return await attempt(isAgain, () => void (hasReached = true));
    } catch (error) {
      if (hasReached) deadline = systemClock.elapsed() + patienceMs;
      if (!isChanging(error)) throw error;
      if (signal.aborted) throw cancelledIn(error);
      if (systemClock.elapsed() > deadline) throw error;
    }
    await sleep(systemClock, AGAIN_MS);
  }
}

function isChanging(error: unknown): error is GoondanError {
  return isGone(error) || (GoondanError.is(error) && error.code === 'E_SWARM_RUNNING');
}

/** Keeps the words of the error, because they say what becomes of an input that was accepted. */
function cancelledIn({ message, suggestion, cause }: GoondanError): GoondanError {
  return new GoondanError('E_CANCELLED', message, { suggestion, cause });
}
