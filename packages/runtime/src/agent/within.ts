/** Waiting for foreign code: never without a deadline, never past an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';

export interface Bounds {
  readonly clock: Clock;
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
export async function within<Value>(
  bounds: Bounds,
  action: (signal: AbortSignal) => Value | Promise<Value>,
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
  const callOff = bounds.clock.after(bounds.timeoutMs, () => stop(bounds.whenLate()));
  try {
    return await Promise.race([action(inner.signal), over.promise]);
  } finally {
    callOff();
    outer.removeEventListener('abort', onAbort);
  }
}
