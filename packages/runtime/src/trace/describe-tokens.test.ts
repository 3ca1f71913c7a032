import { expect, test } from 'bun:test';
import { describeTurnUsage } from './describe-tokens.ts';

test('Y-03 a turn shows its tokens together and apart, each with its cache reads and writes', () => {
  const called = { inputTokens: 40, outputTokens: 2, totalTokens: 42, cachedInputTokens: 30 };
  const usage = { inputTokens: 100, outputTokens: 5, totalTokens: 105, cachedInputTokens: 50, cacheWriteTokens: 7 };
  expect(describeTurnUsage({ usage, called })).toBe(
    '100 → 5 tokens (50 read from the cache, 7 written to it): ' +
      'own 60 → 3 (20 read from the cache, 7 written to it), called agents 40 → 2 (30 read from the cache)',
  );
  expect(describeTurnUsage({ usage: called })).toBe('40 → 2 tokens (30 read from the cache)');
});
