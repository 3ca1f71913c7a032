/** Waits for foreign code: never without a deadline, and never after an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { OwnTimeTimer, type Pausable } from './own-time-timer.ts';

export interface Bounds {
  readonly clock: Clock;
  /** The time limit, without the time in which the action paused its deadline. */
  readonly timeoutMs: number;
  /** The error when time runs out. */
  readonly whenLate: () => GoondanError;
  /** Ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal;
}

/**
 * Runs `action` with its own signal, which aborts with the outer one or when time runs out. Settles at that moment even
 * if the action does not.
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
  // If the action aborts and throws at once, no one waits for this promise.
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
