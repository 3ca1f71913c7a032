import type { ChainRecord } from './turn-trace.ts';

/** @example describeTokens(tokens) // '6000 → 120 tokens (5000 read from the cache, 800 written to it)' */
export function describeTokens({
  input,
  output,
  cacheRead = 0,
  cacheWrite = 0,
}: NonNullable<ChainRecord['tokens']>): string {
  const cache = [
    ...(cacheRead === 0 ? [] : [`${cacheRead} read from the cache`]),
    ...(cacheWrite === 0 ? [] : [`${cacheWrite} written to ${cacheRead === 0 ? 'the cache' : 'it'}`]),
  ];
  return `${input} → ${output} tokens${cache.length === 0 ? '' : ` (${cache.join(', ')})`}`;
}
