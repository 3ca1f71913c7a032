/** Ends a turn that is cancelled or out of time. Layers then get `unwindMs` to unwind, and no more. */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';

export class TurnDeadline {
  private readonly controller = new AbortController();
  private readonly abandoned = Promise.withResolvers<never>();
  private callOff: () => void;
  /** Called before any other listener of the abort, while the chain runs. */
  onAbort: ((reason: Error) => void) | undefined = undefined;
  private readonly onCancel = () => {
    const reason: unknown = this.cancel?.reason;
    const says = GoondanError.is(reason) && ENDS.includes(reason.code);
    this.abort(says ? reason : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason }));
  };

  constructor(
    private readonly clocks: { readonly turn: Clock; readonly world: Clock },
    private readonly policy: TurnPolicy,
    private readonly cancel: AbortSignal | undefined,
  ) {
    const late = () => new GoondanError('E_TURN_TIMEOUT', `The turn ran longer than ${policy.turnTimeoutMs} ms.`);
    this.callOff = clocks.turn.after(policy.turnTimeoutMs, () => this.abort(late()));
    // The turn may already be over, with no one waiting for this promise.
    this.abandoned.promise.catch(() => undefined);
    if (cancel?.aborted) this.onCancel();
    else cancel?.addEventListener('abort', this.onCancel, { once: true });
  }

  /** The abort signal for model calls, tools and layers. */
  get signal(): AbortSignal {
    return this.controller.signal;
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
      this.onAbort = undefined;
    }
  }

  over(): void {
    this.callOff();
    this.cancel?.removeEventListener('abort', this.onCancel);
  }

  private abort(reason: GoondanError): void {
    if (this.signal.aborted) return;
    this.callOff();
    // The turn's own clock may be paused, so this timer uses the real clock.
    this.callOff = this.clocks.world.after(this.policy.unwindMs, () => this.abandoned.reject(reason));
    this.onAbort?.(reason);
    this.controller.abort(reason);
  }
}

/**
 * Codes that a cancel may bring as its own reason. A replay of a turn that timed out is cancelled with
 * `E_TURN_TIMEOUT`.
 */
const ENDS: readonly string[] = ['E_CANCELLED', 'E_TURN_TIMEOUT'];
