/**
 * Keeps the results of the last turns of an instance, so that a repeated event gets its answer again. The number of
 * results and their bytes are bounded. The oldest results are dropped first. The newest is never dropped, because its
 * answer may still have to go into the outbox.
 */
import type { TurnResult } from '@goondan/types';
import { encodeMessage } from '../../messages/message-text.ts';
import type { StoreLimits } from '../limits.ts';

export class FinishedTurns {
  /** Oldest first. */
  readonly #results = new Map<string, { readonly result: TurnResult; readonly bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly limits: Pick<StoreLimits, 'rememberedTurns' | 'rememberedTurnBytes'>,
    results: Iterable<readonly [turnId: string, result: TurnResult]> = [],
  ) {
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
    const bytes = lengthOf(result);
    this.#results.set(turnId, { result, bytes });
    this.#bytes += bytes;
    const { rememberedTurns, rememberedTurnBytes } = this.limits;
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

function lengthOf({ responseMessage, ...rest }: TurnResult): number {
  return JSON.stringify(rest).length + (responseMessage ? encodeMessage(responseMessage).length : 0);
}
