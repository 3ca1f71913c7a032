/** Waits for foreign code, always with a deadline, and never after an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { OwnTimeTimer } from './own-time-timer.ts';

/**
 * Runs `action` with its own signal, which aborts with the outer signal or at the timeout. At that moment the returned
 * promise rejects, even if the action has not settled. Time during which the action paused its deadline does not count.
 * `whenLate`: makes the error for a timeout.
 */
export async function withDeadline<Value>(
  { clock, signal: outer }: { readonly clock: Clock; readonly signal: AbortSignal },
  timeoutMs: number,
  whenLate: () => GoondanError,
  action: (signal: AbortSignal, deadline: OwnTimeTimer) => Value | Promise<Value>,
): Promise<Value> {
  outer.throwIfAborted();
  const inner = new AbortController();
  let giveUp: (reason: unknown) => void = () => undefined;
  const over = new Promise<never>((_, reject) => void (giveUp = reject));
  // Prevents an unhandled rejection: if the action aborts and throws synchronously, nothing awaits this promise.
  over.catch(() => undefined);
  const stop = (reason: unknown) => {
    inner.abort(reason);
    giveUp(reason);
  };
  const onAbort = () => stop(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  const deadline = new OwnTimeTimer(clock, timeoutMs, () => stop(whenLate()));
  deadline.start();
  try {
    return await Promise.race([action(inner.signal, deadline), over]);
  } finally {
    deadline.stop();
    outer.removeEventListener('abort', onAbort);
  }
}
