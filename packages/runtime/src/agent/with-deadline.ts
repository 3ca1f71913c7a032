/** Waits for foreign code, always with a deadline, and never after an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { OwnTimeTimer, type Pausable } from './own-time-timer.ts';

export interface Bounds {
  readonly clock: Clock;
  /** The time limit. Time during which the action paused its deadline does not count. */
  readonly timeoutMs: number;
  /** Makes the error for a timeout. */
  readonly whenLate: () => GoondanError;
  /** Aborting it ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Runs `action` with its own signal, which aborts with the outer signal or at the timeout. It settles at that moment
 * even if the action does not.
 */
export async function withDeadline<Value>(
  bounds: Bounds,
  action: (signal: AbortSignal, deadline: Pausable) => Value | Promise<Value>,
): Promise<Value> {
  const { signal: outer } = bounds;
  outer.throwIfAborted();
  const inner = new AbortController();
  let giveUp: (reason: unknown) => void = () => undefined;
  const over = new Promise<never>((_, reject) => void (giveUp = reject));
  // If the action aborts and throws synchronously, nothing awaits this promise.
  over.catch(() => undefined);
  const stop = (reason: unknown) => {
    inner.abort(reason);
    giveUp(reason);
  };
  const onAbort = () => stop(outer.reason);
  outer.addEventListener('abort', onAbort, { once: true });
  const deadline = new OwnTimeTimer(bounds.clock, bounds.timeoutMs, () => stop(bounds.whenLate()));
  deadline.start();
  try {
    return await Promise.race([action(inner.signal, deadline), over]);
  } finally {
    deadline.stop();
    outer.removeEventListener('abort', onAbort);
  }
}
