import { describe, expect, test } from 'bun:test';
import type { InstanceSpending } from '@goondan/runtime/history';
import type { Prices } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { printUsage } from './print-usage.ts';
import { groupings } from './groupings.ts';
import { reportUsage } from './sum-spendings.ts';

const spending = (more: Partial<InstanceSpending>, inputTokens: number): InstanceSpending => ({
  agentName: 'writer',
  instanceKey: 'default',
  day: '2026-11-17',
  provider: 'anthropic',
  model: 'large',
  calls: 1,
  usage: { inputTokens, outputTokens: 10, totalTokens: inputTokens + 10 },
  ...more,
});
const { instanceKey: _, ...deleted } = spending({ day: '2026-11-16' }, 100);
const read = {
  spendings: [
    spending({}, 1_000_000),
    spending({ agentName: 'reader', extension: 'memory' }, 20),
    spending({ agentName: 'reader', provider: 'openai', model: 'small' }, 3),
    deleted,
  ],
  problems: [],
};
// This is not the price of a real model.
const prices: Prices = {
  currency: 'EUR',
  models: [{ provider: 'anthropic', model: 'large', input: 2, output: 0, source: 'a test', date: '2026-11-17' }],
};

describe('the report of gdn usage', () => {
  test.each([
    ['agent', [{ agent: 'writer' }, { agent: 'reader' }]],
    [
      'model',
      [
        { provider: 'anthropic', model: 'large' },
        { provider: 'openai', model: 'small' },
      ],
    ],
    ['day', [{ day: '2026-11-16' }, { day: '2026-11-17' }]],
    [
      'conversation',
      [
        { agent: 'writer', instanceKey: 'default' },
        { agent: 'writer', instanceKey: null },
        { agent: 'reader', instanceKey: 'default' },
      ],
    ],
    ['extension', [{ extension: null }, { extension: 'memory' }]],
  ] as const)('Y-03 by %s has a row for each, and the same total', (by, rows) => {
    const report = reportUsage(read, { by });
    expect(report.rows).toMatchObject([...rows]);
    expect(report.rows).toHaveLength(rows.length);
    expect(report.rows.reduce((sum, row) => sum + row.usage.inputTokens, 0)).toBe(1_000_123);
    expect(report.total).toEqual({
      calls: 4,
      usage: { inputTokens: 1_000_123, outputTokens: 40, totalTokens: 1_000_163 },
    });
  });

  test('rows with as many tokens go by name, whatever the order of the store', () => {
    const [one, other] = [spending({ agentName: 'b' }, 7), spending({ agentName: 'a' }, 7)];
    const namesOf = (...spendings: InstanceSpending[]) =>
      reportUsage({ spendings, problems: [] }, { by: 'agent' }).rows.map(({ agent }) => agent);
    expect([namesOf(one, other), namesOf(other, one)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('Y-03 the cost has only calls whose price is known, and the others are counted and named', () => {
    const { total, unpriced, currency, rows } = reportUsage(read, { by: 'agent', prices });
    expect({ currency, unpriced }).toEqual({ currency: 'EUR', unpriced: ['openai/small'] });
    expect(total).toMatchObject({ cost: expect.closeTo(2.000_24), unpricedCalls: 1 });
    expect(rows[0]).not.toHaveProperty('unpricedCalls');
    expect(rows[1]).toMatchObject({ agent: 'reader', cost: expect.closeTo(0.000_04), unpricedCalls: 1 });
  });

  test('Y-03 a price that the file lacks is named', () => {
    const usage = { inputTokens: 9, outputTokens: 1, totalTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 2 };
    const spendings = [spending({ usage }, 9), spending({}, 5)];
    const report = reportUsage({ spendings, problems: [] }, { by: 'agent', prices });
    expect(report).toMatchObject({
      unpriced: ['anthropic/large'],
      missingPrices: { 'anthropic/large': ['cacheRead', 'cacheWrite'] },
      total: { calls: 2, unpricedCalls: 1 },
    });
    let screen = '';
    const stdout = { write: (text: string) => (screen += text) };
    printUsage(report, openTerminal({ stdout, stderr: stdout, env: {} }));
    expect(screen).toEndWith('The price file has no `cacheRead` and no `cacheWrite` of anthropic/large.\n');
  });

  test('is printed as a table; a swarm without calls has a total of 0', () => {
    let screen = '';
    const stdout = { write: (text: string) => (screen += text) };
    const terminal = openTerminal({ stdout, stderr: stdout, env: {} });
    printUsage(reportUsage({ ...read, problems: ['writer~x: damaged'] }, { by: 'conversation', prices }), terminal);
    expect(screen.split('\n')).toEqual([
      'conversation                      calls    input  output  from cache  to cache                     cost',
      'writer / default                      1  1000000      10           0         0               2.0000 EUR',
      'writer / (deleted conversations)      1      100      10           0         0               0.0002 EUR',
      'reader / default                      2       23      20           0         0  0.0000 EUR + 1 unpriced',
      'total                                 4  1000123      40           0         0  2.0002 EUR + 1 unpriced',
      'The price file does not have openai/small.',
      'warn: not counted: writer~x: damaged',
      '',
    ]);
    for (const by of groupings) {
      expect(reportUsage({ spendings: [], problems: [] }, { by }).total.calls).toBe(0);
    }
  });
});
