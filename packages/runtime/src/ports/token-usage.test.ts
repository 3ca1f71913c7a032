import { expect, test } from 'bun:test';
import type { TokenUsage } from '@goondan/types';
import { NO_USAGE, soundUsage, sumUsage, usageSince } from './token-usage.ts';

const plain: TokenUsage = { inputTokens: 10, outputTokens: 2, totalTokens: 12 };
const cached: TokenUsage = {
  inputTokens: 100,
  outputTokens: 5,
  totalTokens: 105,
  cachedInputTokens: 60,
  cacheWriteTokens: 30,
  reasoningTokens: 3,
};

test('Y-03 a sum has cache reads, cache writes and reasoning, also if only one side has them', () => {
  expect(sumUsage(plain, cached)).toEqual({ ...cached, inputTokens: 110, outputTokens: 7, totalTokens: 117 });
  expect(sumUsage(cached, cached)).toMatchObject({ cachedInputTokens: 120, cacheWriteTokens: 60, reasoningTokens: 6 });
});

test('counts that neither side has stay absent', () => {
  expect(sumUsage(plain, NO_USAGE)).toEqual(plain);
});

test('the difference undoes the sum', () => {
  expect(usageSince(plain, sumUsage(plain, cached))).toEqual(cached);
});

test('Y-04 the counts of a provider are not less than their parts, which some servers leave out of them', () => {
  expect(soundUsage(cached)).toEqual(cached);
  const parts = { cachedInputTokens: 7, cacheWriteTokens: 7, reasoningTokens: 320 };
  const whole = { inputTokens: 14, outputTokens: 320, totalTokens: 334 };
  expect(soundUsage({ ...plain, ...parts })).toEqual({ ...whole, ...parts });
  expect(soundUsage({ ...plain, reasoningTokens: -5 })).toEqual({ ...plain, reasoningTokens: 0 });
});

test.each([1e13, 1e19, 1e300, Infinity, NaN])('Y-04 a reply with a count of %p has no counts', (count) => {
  expect(soundUsage({ ...plain, inputTokens: count })).toEqual(NO_USAGE);
  expect(soundUsage({ ...plain, totalTokens: count })).toEqual(NO_USAGE);
  expect(soundUsage({ ...plain, cachedInputTokens: count })).toEqual(plain);
});
