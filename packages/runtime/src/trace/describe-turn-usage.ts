/** Describes the tokens of a turn in one line: those of its own model calls, and those of the agents that it called. */
import type { TokenUsage } from '@goondan/types';
import { ownUsage } from '../ports/token-usage.ts';
import type { TurnUsage } from '../ports/turn-outcome.ts';

export function describeTurnUsage(turn: TurnUsage): string {
  const { usage, called } = turn;
  if (called === undefined) return `${describeCounts(usage)} tokens`;
  return `${describeCounts(usage)} tokens: own ${describeCounts(ownUsage(turn))}, called agents ${describeCounts(called)}`;
}

/** Returns input → output, with the part of the input that the provider read from its cache or wrote to it. */
export function describeCounts({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens }: TokenUsage): string {
  const cache = [
    ...(cachedInputTokens ? [`${cachedInputTokens} from cache`] : []),
    ...(cacheWriteTokens ? [`${cacheWriteTokens} to cache`] : []),
  ];
  return `${inputTokens} → ${outputTokens}${cache.length === 0 ? '' : ` (${cache.join(', ')})`}`;
}
