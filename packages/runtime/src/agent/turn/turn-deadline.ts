/**
 * Ends a turn that is cancelled or timed out. Layers then have `unwindMs` to finish; after that the turn ends without
 * them.
 */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import type { Bounds } from '../with-deadline.ts';

export class TurnDeadline {
  private readonly controller = new AbortController();
  /** The abort signal for model calls, tools and layers. */
  readonly signal = this.controller.signal;
  private readonly abandoned = Promise.withResolvers<never>();
  private readonly startedAt: number;
  private callOff: () => void;
  private readonly listeners = new Set<(reason: unknown) => void>();
  /** Called when the turn is aborted while the chain runs, before any other listener. */
  onFirstAbort: ((reason: Error) => void) | undefined = undefined;
  private readonly onCancel = () => {
    const reason: unknown = this.cancel?.reason;
    const says = GoondanError.is(reason) && ENDS.includes(reason.code);
    this.abort(says ? reason : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason }));
  };

  constructor(
    private readonly clocks: { readonly turn: Clock; readonly world: Clock },
    private policy: TurnPolicy,
    private readonly cancel: AbortSignal | undefined,
  ) {
    this.startedAt = clocks.turn.elapsed();
    this.callOff = this.waitUntilLate();
    // Prevents an unhandled rejection: once the turn has ended, nothing awaits this promise.
    this.abandoned.promise.catch(() => undefined);
    if (cancel?.aborted) this.onCancel();
    else cancel?.addEventListener('abort', this.onCancel, { once: true });
  }

  /**
   * Resolves with the chain's outcome. After an abort it rejects with the abort's reason, at the latest after
   * `unwindMs`.
   */
  async bound<Value>(chain: Promise<Value>): Promise<Value> {
    try {
      const value = await Promise.race([chain, this.abandoned.promise]);
      this.signal.throwIfAborted();
      return value;
    } catch (error) {
      throw this.signal.aborted ? this.signal.reason : error;
    } finally {
      this.onFirstAbort = undefined;
    }
  }

  /** Takes the limits of another policy. The time since the start of the turn counts. */
  change(policy: TurnPolicy): void {
    const isSame = policy.turnTimeoutMs === this.policy.turnTimeoutMs;
    this.policy = policy;
    if (isSame || this.signal.aborted) return;
    this.callOff();
    this.callOff = this.waitUntilLate();
  }

  /** The bounds of the turn's foreign code. A listener in a set costs less than one of the signal. */
  readonly onAbort: Bounds['onAbort'] = (listener) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  over(): void {
    this.callOff();
    this.cancel?.removeEventListener('abort', this.onCancel);
  }

  private waitUntilLate(): () => void {
    const { turn } = this.clocks;
    const { turnTimeoutMs } = this.policy;
    const late = () => new GoondanError('E_TURN_TIMEOUT', `The turn ran longer than ${turnTimeoutMs} ms.`);
    const restMs = Math.max(0, turnTimeoutMs - (turn.elapsed() - this.startedAt));
    return turn.after(restMs, () => this.abort(late()));
  }

  private abort(reason: GoondanError): void {
    if (this.signal.aborted) return;
    this.callOff();
    // Uses the real clock, because the turn's own clock may be paused.
    this.callOff = this.clocks.world.after(this.policy.unwindMs, () => this.abandoned.reject(reason));
    this.onFirstAbort?.(reason);
    this.controller.abort(reason);
    for (const listener of this.listeners) listener(reason);
  }
}

/** Codes that the reason of a cancel may have. A replay of a turn that timed out is cancelled with `E_TURN_TIMEOUT`. */
const ENDS: readonly string[] = ['E_CANCELLED', 'E_TURN_TIMEOUT'];
