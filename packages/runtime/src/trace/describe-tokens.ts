/** Describes tokens, of a model call and of a turn, with the same words. */
import type { TokenUsage } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { ownUsage } from '../ports/token-usage.ts';
import type { TurnUsage } from '../ports/turn-outcome.ts';
import type { ChainRecord } from './turn-trace.ts';

type Tokens = NonNullable<ChainRecord['tokens']>;

/** Returns the tokens as a trace records them. */
export function tokensOf({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens }: TokenUsage): Tokens {
  // Many providers report 0 for a cache that they did not use.
  const cache = { cacheRead: cachedInputTokens || undefined, cacheWrite: cacheWriteTokens || undefined };
  return { input: inputTokens, output: outputTokens, ...defined(cache) };
}

/** @example describeTokens(tokens) // '6000 → 120 tokens (5000 read from the cache, 800 written to it)' */
export function describeTokens({ input, output, cacheRead = 0, cacheWrite = 0 }: Tokens, unit = ' tokens'): string {
  const cache = [
    ...(cacheRead === 0 ? [] : [`${cacheRead} read from the cache`]),
    ...(cacheWrite === 0 ? [] : [`${cacheWrite} written to ${cacheRead === 0 ? 'the cache' : 'it'}`]),
  ];
  return `${input} → ${output}${unit}${cache.length === 0 ? '' : ` (${cache.join(', ')})`}`;
}

/** @example describeTurnUsage(turn) // '342 → 54 tokens: own 224 → 31, called agents 118 → 23' */
export function describeTurnUsage(turn: TurnUsage): string {
  const { usage, called } = turn;
  const whole = describeTokens(tokensOf(usage));
  if (called === undefined) return whole;
  const part = (used: TokenUsage) => describeTokens(tokensOf(used), '');
  return `${whole}: own ${part(ownUsage(turn))}, called agents ${part(called)}`;
}
