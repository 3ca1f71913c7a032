/** Checks, sums and differences of token counts. A count that is absent on both sides stays absent. */
import type { TokenUsage } from '@goondan/types';
import type { TurnUsage } from './turn-outcome.ts';

export const NO_USAGE: Readonly<TokenUsage> = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The counts that a provider may leave out. */
const optionalCounts = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

/** The highest count of one reply that is believed. Sums of millions of such counts are exact, and fit into every store. */
const MOST_TOKENS = 1e12;

/**
 * Makes the counts of a reply whole numbers from 0, because wrong counts must not undo limits and sums. The whole is not less
 * than its parts: some servers leave reasoning or cached tokens out of it. Returns `NO_USAGE`, as for a reply without
 * counts, if a count cannot be believed.
 */
export function soundUsage(usage: TokenUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = usage;
  if (![inputTokens, outputTokens, totalTokens].every(isCredible)) return NO_USAGE;
  const parts: Partial<TokenUsage> = {};
  for (const name of optionalCounts) {
    const count = usage[name];
    if (isCredible(count)) parts[name] = toCount(count);
  }
  const { cachedInputTokens: read = 0, cacheWriteTokens: written = 0, reasoningTokens: reasoned = 0 } = parts;
  const input = Math.max(toCount(inputTokens), read + written);
  const output = Math.max(toCount(outputTokens), reasoned);
  const total = Math.max(toCount(totalTokens), input + output);
  return { ...parts, inputTokens: input, outputTokens: output, totalTokens: total };
}

function isCredible(count: unknown): count is number {
  return typeof count === 'number' && count <= MOST_TOKENS;
}

function toCount(count: number): number {
  return count > 0 ? Math.round(count) : 0;
}

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
