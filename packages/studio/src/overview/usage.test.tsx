import type { UsageView } from '@goondan/cli/studio';
import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { UsageTable } from './usage.tsx';

const used = (inputTokens: number, cachedInputTokens: number) => ({
  inputTokens,
  outputTokens: 5,
  totalTokens: inputTokens + 5,
  cachedInputTokens,
});

test('Y-03 the table has the cost at known prices, and says which calls have none', () => {
  const usage: UsageView = {
    by: 'model',
    currency: 'EUR',
    rows: [
      { provider: 'openai', model: 'large', calls: 2, usage: used(100, 0), cost: 0.25 },
      { provider: 'openai', model: 'small', calls: 1, usage: used(7, 0), unpricedCalls: 1 },
    ],
    total: { calls: 3, usage: used(107, 0), cost: 0.25, unpricedCalls: 1 },
    unpriced: ['openai/small', 'anthropic/large'],
    missingPrices: { 'anthropic/large': ['cacheRead', 'cacheWrite'] },
  };
  const text = renderToStaticMarkup(<UsageTable usage={usage} />);
  const costs = [...text.matchAll(/<td>([^<]*)<\/td><\/tr>/g)].map(([, cost]) => cost);
  expect(costs).toEqual(['0.2500 EUR', '1 unpriced', '0.2500 EUR + 1 unpriced']);
  expect(text).toContain('The price file does not have openai/small.');
  expect(text).toContain('The price file has no `cacheRead` and no `cacheWrite` of anthropic/large.');
});

test('Y-03 the table has a row for each group, with cache reads, and their sum', () => {
  const usage: UsageView = {
    by: 'conversation',
    rows: [
      { agent: 'writer', instanceKey: 'default', calls: 2, usage: used(100, 40) },
      { agent: 'writer', instanceKey: null, calls: 1, usage: used(7, 0) },
    ],
    total: { calls: 3, usage: { ...used(107, 40), outputTokens: 10 } },
    problems: ['writer~broken: it is damaged'],
  };
  const cells = [...renderToStaticMarkup(<UsageTable usage={usage} />).matchAll(/<td>(.*?)<\/td>/g)].map(
    ([, cell]) => cell,
  );
  expect(cells).toEqual([
    ...['writer / default', '2', '100', '5', '40', '0'],
    ...['writer / (deleted conversations)', '1', '7', '5', '0', '0'],
    ...['total', '3', '107', '10', '40', '0'],
  ]);
  expect(renderToStaticMarkup(<UsageTable usage={usage} />)).toContain('Not counted: writer~broken');
});
