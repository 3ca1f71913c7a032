/** Waits for foreign code, always with a deadline, and never after an abort. */
import type { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { OwnTimeTimer } from './own-time-timer.ts';

/** The bounds of a turn, in which foreign code runs. */
export interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Calls `listener` with the reason when the signal aborts. Returns a function that removes the listener. */
  readonly onAbort: (listener: (reason: unknown) => void) => () => void;
}

/** Foreign code while it runs. */
export interface BoundedRun {
  /** Aborts with the signal of the bounds, or at the deadline. Made when it is first read. */
  readonly signal: AbortSignal;
  /** True after an abort and after the deadline. */
  readonly isOver: boolean;
  readonly deadline: OwnTimeTimer;
  /** Ends the run with this reason, as an abort does. */
  giveUp(reason: unknown): void;
}

/**
 * Runs `action` with its own signal, which aborts with the outer signal or at the timeout. At that moment the returned
 * promise rejects, even if the action has not settled. Time during which the action paused its deadline does not count.
 * `whenLate`: makes the error for a timeout.
 */
export async function withDeadline<Value>(
  bounds: Bounds,
  timeoutMs: number,
  whenLate: () => GoondanError,
  action: (run: BoundedRun) => Value | PromiseLike<Value>,
): Promise<Value> {
  bounds.signal.throwIfAborted();
  const run = new Running<Value>(bounds.clock, timeoutMs, whenLate);
  const leave = bounds.onAbort((reason) => run.giveUp(reason));
  run.deadline.start();
  try {
    const running = action(run);
    return isPromiseLike(running) ? await run.wait(running) : running;
  } finally {
    run.deadline.stop();
    leave();
  }
}

/** Listens to any signal, for bounds that do not belong to a turn. */
export function listenTo(signal: AbortSignal): Bounds['onAbort'] {
  return (listener) => {
    const onAbort = () => listener(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  };
}

class Running<Value> implements BoundedRun {
  readonly deadline: OwnTimeTimer;
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor(clock: Clock, timeoutMs: number, whenLate: () => GoondanError) {
    this.deadline = new OwnTimeTimer(clock, timeoutMs, () => this.giveUp(whenLate()));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Settles as the action does, or rejects as soon as the action is given up. */
  wait(running: PromiseLike<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#ended !== undefined) reject(this.#ended.reason);
      running.then(resolve, reject);
    });
  }

  giveUp(reason: unknown): void {
    this.#ended ??= { reason };
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }
}

function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value);
}
