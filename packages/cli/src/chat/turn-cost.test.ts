import { expect, test } from 'bun:test';
import type { InstanceSpending } from '@goondan/runtime/history';
import { TurnCosts } from './turn-cost.ts';

const usageOf = (inputTokens: number) => ({ inputTokens, outputTokens: 0, totalTokens: inputTokens });
const spend = (agentName: string, tokens: number, model = 'm'): InstanceSpending => ({
  ...{ agentName, instanceKey: 'default', provider: 'p', model, day: '2026-11-17', calls: 1 },
  usage: usageOf(tokens),
});
const prices = {
  currency: 'USD',
  models: [{ provider: 'p', model: 'm', input: 1_000, output: 1, source: 'invented', date: '2026-11-17' }],
};

test.each<[rule: string, after: InstanceSpending[], called: number, cost: string | undefined]>([
  ['of its own tokens', [spend('host', 30)], 0, '0.0200 USD'],
  ['with those of called agents', [spend('host', 20), spend('clerk', 10)], 10, '0.0200 USD'],
  ['without those of others', [spend('host', 30), spend('clerk', 99)], 0, '0.0200 USD'],
  ['not known while others run beside called agents', [spend('host', 20), spend('clerk', 99)], 10, undefined],
  ['not known if the tokens are not those of the turn', [spend('host', 31)], 0, undefined],
  ['not known if it cannot be read', [], 0, undefined],
  ['not known without a price', [spend('host', 10), spend('host', 20, 'other')], 0, undefined],
])('the cost of a turn is %s', async (_rule, after, called, cost) => {
  let spendings = [spend('host', 10)];
  const costs = new TurnCosts(prices, async () => {
    if (spendings.length === 0) throw new Error('E_STORE_READ');
    return { spendings, problems: [] };
  });
  await costs.look();
  spendings = after;
  const result = { turnId: 't', finishReason: 'text_response' as const };
  const turn = { agent: 'host', instanceKey: 'default', eventId: 'e', traceId: '', result, stepCount: 1 };
  const used = { usage: usageOf(20), ...(called > 0 && { called: usageOf(called) }) };
  expect(await costs.costOf({ ...turn, ...used })).toBe(cost);
});
