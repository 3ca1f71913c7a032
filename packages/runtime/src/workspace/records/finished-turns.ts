/**
 * Keeps the results of the last turns of an instance, so that a repeated event gets its answer again. The number of
 * results and their bytes are bounded. The oldest results are dropped first. The newest is never dropped, because its
 * answer may still have to go into the outbox.
 */
import type { TurnResult } from '@goondan/types';
import type { FinishedUsage } from '../../agent/conversation/conversation-store.ts';
import type { StoreLimits } from '../limits.ts';

/** A committed turn. Its usage is absent if it is not known. */
export type FinishedTurn = readonly [turnId: string, result: TurnResult, usage?: FinishedUsage];

export class FinishedTurns {
  /** Oldest first. */
  readonly #results = new Map<string, { readonly turn: FinishedTurn; readonly bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly limits: Pick<StoreLimits, 'rememberedTurns' | 'rememberedTurnBytes'>,
    turns: Iterable<FinishedTurn> = [],
  ) {
    for (const turn of turns) this.add(...turn);
  }

  has(turnId: string): boolean {
    return this.#results.has(turnId);
  }

  get(turnId: string): TurnResult | undefined {
    return this.#results.get(turnId)?.turn[1];
  }

  usageOf(turnId: string): FinishedUsage | undefined {
    return this.#results.get(turnId)?.turn[2];
  }

  /** Returns the other ids with the result of this turn: those of the events that it has taken. */
  alsoOf(turnId: string): readonly string[] {
    const ids = [...this.#results.keys()];
    return ids.filter((id) => id !== turnId && this.#results.get(id)?.turn[1].turnId === turnId);
  }

  /** Returns the newest results within these limits, oldest first; at least the newest one. */
  newest(most: number, mostBytes: number): readonly FinishedTurn[] {
    let left = mostBytes;
    const found = [...this.#results].toReversed().filter(([, { bytes }], index) => {
      left -= bytes;
      return index === 0 || (index < most && left >= 0);
    });
    return found.toReversed().map(([, { turn }]) => turn);
  }

  add(turnId: string, result: TurnResult, usage?: FinishedUsage): void {
    this.#remove(turnId);
    const bytes = sizeOf(result);
    this.#results.set(turnId, { turn: usage ? [turnId, result, usage] : [turnId, result], bytes });
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

/** Returns about the size of a result. Only the parts that may be long are measured. */
function sizeOf({ responseMessage, error }: TurnResult): number {
  const message = responseMessage ? lengthOf(responseMessage.data) + lengthOf(responseMessage.metadata) : 0;
  return SHORT_PARTS + message + (error ? lengthOf(error) : 0);
}

/** Returns about the length of a value as JSON. Making the JSON text would cost every turn several times as much. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return SHORT_LENGTH;
  let length = 2;
  // Safe: only own names of the value are read.
  for (const name in value) length += name.length + lengthOf(value[name as keyof typeof value]);
  return length;
}

/** The length of a number or another value that is never long. */
const SHORT_LENGTH = 24;

/** The length of the other parts of a result: ids, times and names. */
const SHORT_PARTS = 256;
