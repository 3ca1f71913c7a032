/** Waiting for foreign code: never without a deadline, never past an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { OwnTimeTimer, type Pausable } from './own-time-timer.ts';

export interface Bounds {
  readonly clock: Clock;
  /** Without the time in which the action paused its deadline. */
  readonly timeoutMs: number;
  /** The error when time runs out. */
  readonly whenLate: () => GoondanError;
  /** Ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Runs `action` with a signal of its own, which aborts with the outer one or when time runs out. Settles then even if
 * the action does not.
 */
export async function withDeadline<Value>(
  bounds: Bounds,
  action: (signal: AbortSignal, deadline: Pausable) => Value | Promise<Value>,
): Promise<Value> {
  const { signal: outer } = bounds;
  outer.throwIfAborted();
  const inner = new AbortController();
  const over = Promise.withResolvers<never>();
  // An action that aborts and throws at once leaves nobody to wait for it.
  over.promise.catch(() => undefined);
  const stop = (reason: unknown) => {
    inner.abort(reason);
    over.reject(reason);
  };
  const onAbort = () => stop(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  const deadline = new OwnTimeTimer(bounds.clock, bounds.timeoutMs, () => stop(bounds.whenLate()));
  deadline.start();
  try {
    return await Promise.race([action(inner.signal, deadline), over.promise]);
  } finally {
    deadline.stop();
    outer.removeEventListener('abort', onAbort);
  }
}
