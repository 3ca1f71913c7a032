import { describe, expect, test } from 'bun:test';
import { checkPrices, findPrice, highestPriceOf, type ModelPrice, priceOf, type Prices } from './prices.ts';

// These are not the prices of a real model.
const large: ModelPrice = {
  provider: 'anthropic',
  model: 'large',
  input: 4,
  output: 20,
  cacheRead: 0.5,
  cacheWrite: 5,
  source: 'a test',
  date: '2026-11-17',
};
const used = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000 };

describe('the cost of tokens', () => {
  test('Y-03 each kind of token has its price: input, cache reads, cache writes, output', () => {
    expect(priceOf(used, large)).toBe(4 + 2);
    expect(priceOf({ ...used, cachedInputTokens: 400_000, cacheWriteTokens: 200_000 }, large)).toBe(1.6 + 0.2 + 1 + 2);
  });

  test('reasoning costs as much as other output, unless it has a price of its own', () => {
    const thought = { ...used, reasoningTokens: 50_000 };
    expect(priceOf(thought, large)).toBe(6);
    expect(priceOf(thought, { ...large, reasoning: 40 })).toBe(4 + 1 + 2);
  });

  test('Y-03 a price that is not known is not guessed', () => {
    const { cacheRead: _read, cacheWrite: _write, ...bare } = large;
    expect(priceOf(used, bare)).toBe(6);
    expect(priceOf({ ...used, cachedInputTokens: 1 }, bare)).toBeUndefined();
    expect(priceOf({ ...used, cacheWriteTokens: 1 }, bare)).toBeUndefined();
    const prices: Prices = { currency: 'USD', models: [large] };
    expect(findPrice(prices, { provider: 'anthropic', model: 'large' })).toBe(large);
    expect(findPrice(prices, { provider: 'openai', model: 'large' })).toBeUndefined();
  });

  test('Y-04 no call earns money, whichever parts its provider reports', () => {
    const few = { inputTokens: 5, outputTokens: 3, totalTokens: 8 };
    expect(priceOf({ ...few, cachedInputTokens: 1_000_000 }, { ...large, cacheRead: 0 })).toBe(60 / 1_000_000);
    expect(priceOf({ ...few, reasoningTokens: 1_000_000 }, { ...large, reasoning: 0 })).toBe(20 / 1_000_000);
  });

  test('the highest price covers every split of the tokens', () => {
    expect(highestPriceOf(used, large)).toBe(5 + 2);
    expect(highestPriceOf(used, { ...large, reasoning: 30 })).toBe(5 + 3);
  });
});

describe('the contents of a price file', () => {
  test('are returned when they are right', () => {
    const prices = { currency: 'EUR', models: [{ ...large, maxOutputTokens: 64_000 }] };
    expect(checkPrices(prices)).toBe(prices as unknown as Prices);
    expect(checkPrices({ currency: 'USD', models: [] })).toEqual({ currency: 'USD', models: [] });
  });

  test.each<[unknown, (string | number)[], string]>([
    [[], [], 'must be an object'],
    [{ models: [] }, ['currency'], 'must be a currency code'],
    [{ currency: 'dollar', models: [] }, ['currency'], 'must be a currency code'],
    [{ currency: 'USD' }, ['models'], 'must be a list'],
    [{ currency: 'USD', models: ['large'] }, ['models', 0], 'must be an object'],
    [{ currency: 'USD', models: [], prices: [] }, ['prices'], 'is not a field'],
    [{ currency: 'USD', models: [{ ...large, input: '4' }] }, ['models', 0, 'input'], 'must be a number'],
    [{ currency: 'USD', models: [{ ...large, output: -1 }] }, ['models', 0, 'output'], 'must be a number'],
    [{ currency: 'USD', models: [{ ...large, cacheRead: null }] }, ['models', 0, 'cacheRead'], 'must be a number'],
    [{ currency: 'USD', models: [{ ...large, source: '' }] }, ['models', 0, 'source'], 'must be a text'],
    [{ currency: 'USD', models: [{ ...large, date: '2026-02-30' }] }, ['models', 0, 'date'], 'must be the day'],
    [
      { currency: 'USD', models: [{ ...large, maxOutputTokens: 0 }] },
      ['models', 0, 'maxOutputTokens'],
      'must be a whole',
    ],
    [{ currency: 'USD', models: [{ ...large, cacheReads: 1 }] }, ['models', 0, 'cacheReads'], 'known here: provider'],
    [{ currency: 'USD', models: [large, large] }, ['models', 1, 'model'], 'models[0] has the same'],
  ])('a mistake is found at its field: %j', (value, path, message) => {
    expect(checkPrices(value)).toEqual({ problems: [{ path, message: expect.stringContaining(message) }] });
  });
});
