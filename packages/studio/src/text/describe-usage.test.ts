import { expect, test } from 'bun:test';
import { describeUsage } from './describe-usage.ts';

test('Y-03 a turn shows its tokens together and apart, each with its cache reads and writes', () => {
  const called = { inputTokens: 40, outputTokens: 2, totalTokens: 42, cachedInputTokens: 30 };
  const usage = { inputTokens: 100, outputTokens: 5, totalTokens: 105, cachedInputTokens: 50, cacheWriteTokens: 7 };
  expect(describeUsage({ usage, called })).toEqual([
    '100 → 5 tokens (50 from the cache, 7 to the cache): ' +
      'own 60 → 3 (20 from the cache, 7 to the cache), called agents 40 → 2 (30 from the cache)',
  ]);
  expect(describeUsage({ usage: called })).toEqual(['40 → 2 tokens (30 from the cache)']);
  expect(describeUsage({})).toEqual([]);
});
