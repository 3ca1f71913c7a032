/**
 * The reservations of one model call: those of the limits of its model, which the runtime makes, and those of budgets,
 * which layers make.
 *
 * Invariants:
 * 1. The call is made only when all of them have begun, and they have begun before the first byte leaves.
 * 2. Each of them is ended once: settled when the call has ended, or released if the call was not made.
 */
import { GoondanError, type TokenUsage } from '@goondan/types';
import type { ReservedCall } from '../../trace/layer-span.ts';
import { randomIds } from '../../ports/ids.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { estimateInput, USUAL_ANSWER } from './estimate-call.ts';
import type { ModelCall } from './model-context.ts';
import { claimLimits, limitsOf } from './model-limits.ts';
import { mostTokensOf } from './most-tokens.ts';

/** The amounts of a call that are counted. */
export type Measure = 'calls' | 'tokens';

interface OpenReservation {
  /** The measure and the reserved amount of each claim. */
  readonly claims: readonly { readonly measure: Measure; readonly amount: number }[];
  readonly hasBegun: boolean;
}

export class CallReservations {
  readonly #open = new Map<string, OpenReservation>();
  #tokens: number | undefined;

  constructor(
    private readonly turn: RunningTurn,
    private readonly call: ModelCall,
  ) {}

  /** Waits for the limits of the model, and begins all reservations. **Errors** — those of `CallCounters`. */
  async begin(): Promise<ReservedCall> {
    const { agent, signal } = this.turn;
    const layers = [...this.#open.keys()];
    const limits = limitsOf(agent.plan.openModel.entries, this.call.modelRef);
    const claims = limits.flatMap((each) => claimLimits(each, this.#mostTokens()));
    let limitMs: number | undefined;
    if (claims.length > 0) {
      const id = this.newId();
      // Noted before the request, so that it is released if the wait is called off.
      this.#open.set(id, {
        claims: claims.map(({ measure, claim }) => ({ measure, amount: claim.amount })),
        hasBegun: true,
      });
      const words = claims.map((each) => each.words);
      const reserved = await agent.counters.reserve(
        { id, claims: claims.map(({ claim }) => claim), limits: words },
        signal,
      );
      if (reserved.status === 'refused') throw new GoondanError('E_UNEXPECTED', 'A call that waits was refused.');
      limitMs = reserved.waitedMs;
    }
    if (layers.length > 0) await agent.counters.begin(layers, signal);
    for (const [id, { claims: begun }] of this.#open) this.#open.set(id, { claims: begun, hasBegun: true });
    return {
      ...(limitMs !== undefined && { limitMs }),
      ...(this.#tokens !== undefined && { reservedTokens: this.#tokens }),
    };
  }

  /** Settles all reservations of a call that was made. Without usage, it may have used everything that was reserved. */
  settle(usage: TokenUsage | undefined): void {
    for (const [id, { claims }] of this.#open) {
      const amounts = claims.map(({ measure, amount }) =>
        measure === 'calls' || usage === undefined ? amount : usage.inputTokens + usage.outputTokens,
      );
      this.turn.agent.counters.end(id, amounts);
    }
    this.#open.clear();
  }

  /** Releases the reservations of a call that was not made. */
  release(): void {
    for (const id of this.#open.keys()) this.turn.agent.counters.end(id);
    this.#open.clear();
  }

  /** Returns the id of another attempt of this call. */
  newId(): string {
    return `${this.turn.turnId}/${this.call.key}/${randomIds.next('attempt')}`;
  }

  #mostTokens(): number {
    const { messages, ownMessages, tools } = this.call;
    this.#tokens ??=
      estimateInput(ownMessages ?? messages, tools.items) +
      (mostTokensOf(this.turn.agent.plan, this.call) ?? USUAL_ANSWER);
    return this.#tokens;
  }
}
