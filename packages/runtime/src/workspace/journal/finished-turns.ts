/**
 * How the last turns of an instance ended, so that an event that comes twice gets its answer again. Bounded in number and
 * in bytes: the oldest go, but never the newest, whose answer may still have to be put into the outbox.
 */
import type { TurnResult } from '@goondan/types';

export interface FinishedLimits {
  readonly rememberedTurns: number;
  readonly rememberedTurnBytes: number;
}

export class FinishedTurns {
  readonly #limits: FinishedLimits;
  /** Oldest first. */
  readonly #results = new Map<string, { readonly result: TurnResult; readonly bytes: number }>();
  #bytes = 0;

  constructor(limits: FinishedLimits, results: Iterable<readonly [turnId: string, result: TurnResult]> = []) {
    this.#limits = limits;
    for (const [turnId, result] of results) this.add(turnId, result);
  }

  has(turnId: string): boolean {
    return this.#results.has(turnId);
  }

  get(turnId: string): TurnResult | undefined {
    return this.#results.get(turnId)?.result;
  }

  add(turnId: string, result: TurnResult): void {
    this.#remove(turnId);
    const bytes = JSON.stringify(result).length;
    this.#results.set(turnId, { result, bytes });
    this.#bytes += bytes;
    const { rememberedTurns, rememberedTurnBytes } = this.#limits;
    for (const oldest of this.#results.keys()) {
      const isTooMuch = this.#results.size > rememberedTurns || this.#bytes > rememberedTurnBytes;
      if (!isTooMuch || oldest === turnId) return;
      this.#remove(oldest);
    }
  }

  #remove(turnId: string): void {
    this.#bytes -= this.#results.get(turnId)?.bytes ?? 0;
    this.#results.delete(turnId);
  }
}
