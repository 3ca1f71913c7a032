import { expect, test } from 'bun:test';
import type { TokenUsage } from '@goondan/types';
import fc from 'fast-check';
import { NO_USAGE, sumUsage } from '../ports/token-usage.ts';
import { countTurn, type RecordedEffect, usageOf } from './count-turn.ts';
import { dayOf, KEPT_DAYS, keepRecent, type PaidModel, type Spending, SpendingSum } from './spending.ts';

const usage = fc.record({ inputTokens: fc.nat(99), outputTokens: fc.nat(99), totalTokens: fc.nat(198) });
const spending: fc.Arbitrary<Spending> = fc.record(
  {
    day: fc.constantFrom('2026-11-16', '2026-11-17'),
    provider: fc.constantFrom('anthropic', 'openai'),
    model: fc.constantFrom('small', 'large'),
    extension: fc.constantFrom('memory', 'guard'),
    calls: fc.integer({ min: 1, max: 5 }),
    usage,
  },
  { requiredKeys: ['day', 'provider', 'model', 'calls', 'usage'] },
);

const totalOf = (list: readonly Spending[]) => ({
  calls: list.reduce((sum, { calls }) => sum + calls, 0),
  usage: list.reduce((sum, each) => sumUsage(sum, each.usage), NO_USAGE),
});

test('Y-03 adding spendings keeps their sum, and leaves one for each day, model and extension', () => {
  fc.assert(
    fc.property(fc.array(spending), fc.array(spending), (one, other) => {
      const summed = new SpendingSum(one);
      summed.add(other);
      const sum = summed.list();
      expect(totalOf(sum)).toEqual(totalOf([...one, ...other]));
      const keys = sum.map(({ day, provider, model, extension }) => `${day} ${provider} ${model} ${extension}`);
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});

test('Y-03 each recorded reply counts once, by day, model and extension, and called agents count apart', () => {
  const used = (inputTokens: number): TokenUsage => ({ inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 });
  const reply = (key: string, inputTokens: number, paid: PaidModel): RecordedEffect => ({
    type: 'effect',
    key,
    kind: 'model',
    outcome: { ok: true, value: { content: [], finishReason: 'stop', usage: { ...used(inputTokens) } } },
    paid,
  });
  const asked: RecordedEffect = {
    type: 'effect',
    key: '0/agent/0',
    kind: 'agent',
    outcome: { ok: false, error: { code: 'E_AGENT_FAILED', message: 'no' } },
    called: used(300),
  };
  const evening = Date.parse('2026-11-16T23:59:59Z');
  const morning = Date.parse('2026-11-17T00:00:01Z');
  const large = { provider: 'anthropic', model: 'large' };
  const small = { provider: 'openai', model: 'small' };
  const counted = countTurn([
    { at: evening, record: reply('0/model', 10, large) },
    { at: evening, record: reply('pre/memory/model/0', 5, { ...large, extension: 'memory' }) },
    { at: evening, record: { type: 'step', outcome: 'dropped' } },
    { at: evening, record: asked },
    { at: morning, record: { type: 'resumed' } },
    { at: morning, record: reply('0/model', 10, large) },
    { at: morning, record: reply('1/model', 20, large) },
    { at: morning, record: reply('2/model', 40, small) },
    { at: morning, record: { type: 'step', outcome: 'completed' } },
  ]);
  expect(counted).toEqual({
    spent: [
      { day: '2026-11-16', ...large, calls: 1, usage: used(10) },
      { day: '2026-11-16', ...large, extension: 'memory', calls: 1, usage: used(5) },
      { day: '2026-11-17', ...large, calls: 1, usage: used(20) },
      { day: '2026-11-17', ...small, calls: 1, usage: used(40) },
    ],
    called: used(300),
    steps: 1,
  });
  expect(usageOf(counted)).toEqual({
    usage: { inputTokens: 375, outputTokens: 5, totalTokens: 380 },
    called: used(300),
  });
});

test('spendings are kept for 400 days', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  const spent = [KEPT_DAYS + 1, KEPT_DAYS, 0].map((days) => ({
    day: dayOf(now - days * 86_400_000),
    provider: 'anthropic',
    model: 'large',
    calls: 1,
    usage: NO_USAGE,
  }));
  expect(keepRecent(spent, now)).toEqual(spent.slice(1));
});
