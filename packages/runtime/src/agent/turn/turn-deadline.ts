/** When a turn must end: somebody cancels it, or its time is up. Layers then get a moment to unwind, and no more. */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';

export class TurnDeadline {
  private readonly controller = new AbortController();
  private readonly abandoned = Promise.withResolvers<never>();
  private callOff: () => void;
  /** Told before anybody else hears of it, while the chain runs. */
  onAbort: ((reason: Error) => void) | undefined = undefined;
  private readonly onCancel = () => {
    const reason: unknown = this.cancel?.reason;
    const says = reason instanceof GoondanError && ENDS.includes(reason.code);
    this.abort(says ? reason : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason }));
  };

  constructor(
    private readonly clocks: { readonly turn: Clock; readonly world: Clock },
    private readonly policy: TurnPolicy,
    private readonly cancel: AbortSignal | undefined,
  ) {
    const late = () => new GoondanError('E_TURN_TIMEOUT', `The turn ran longer than ${policy.turnTimeoutMs} ms.`);
    this.callOff = clocks.turn.after(policy.turnTimeoutMs, () => this.abort(late()));
    // Nobody may be waiting when it is abandoned.
    this.abandoned.promise.catch(() => undefined);
    if (cancel?.aborted) this.onCancel();
    else cancel?.addEventListener('abort', this.onCancel, { once: true });
  }

  /** For model calls, tools and layers. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The chain's outcome; after an abort, the abort's reason, at the latest when unwinding takes too long. */
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
    // Not on the clock of the turn, which may stand still.
    this.callOff = this.clocks.world.after(this.policy.unwindMs, () => this.abandoned.reject(reason));
    this.onAbort?.(reason);
    this.controller.abort(reason);
  }
}

/** With which a turn ends so. A replay of one that was out of time is cancelled with that. */
const ENDS: readonly string[] = ['E_CANCELLED', 'E_TURN_TIMEOUT'];
