/** Sums and differences of token counts. A count that is absent on both sides stays absent. */
import type { TokenUsage } from '@goondan/types';
import type { TurnUsage } from './turn-outcome.ts';

export const NO_USAGE: Readonly<TokenUsage> = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The counts that a provider may leave out. */
const optionalCounts = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

export function sumUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  return combine(one, other, (count, more) => count + more);
}

/** Returns the tokens that were used between two moments. */
export function usageSince(before: TokenUsage, now: TokenUsage): TokenUsage {
  return combine(now, before, (count, earlier) => count - earlier);
}

/** Returns the tokens of the turn's own model calls. */
export function ownUsage({ usage, called }: TurnUsage): TokenUsage {
  return called === undefined ? usage : usageSince(called, usage);
}

/** Adds tokens of called agents to those of a turn. */
export function addCalled({ usage, called }: TurnUsage, more: TokenUsage): TurnUsage {
  return { usage: sumUsage(usage, more), called: called === undefined ? more : sumUsage(called, more) };
}

function combine(one: TokenUsage, other: TokenUsage, of: (one: number, other: number) => number): TokenUsage {
  const combined: TokenUsage = {
    inputTokens: of(one.inputTokens, other.inputTokens),
    outputTokens: of(one.outputTokens, other.outputTokens),
    totalTokens: of(one.totalTokens, other.totalTokens),
  };
  for (const count of optionalCounts) {
    if (one[count] === undefined && other[count] === undefined) continue;
    combined[count] = of(one[count] ?? 0, other[count] ?? 0);
  }
  return combined;
}
