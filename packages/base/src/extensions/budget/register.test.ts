import { describe, expect, test } from 'bun:test';
import { extension, scriptedAgent } from '@goondan/runtime/testing';
import type { JsonValue } from '@goondan/types';
import type { BudgetConfig } from './budget-config.ts';
import { readBudgets } from './budget-config.ts';
import { register } from './register.ts';

// Safe: the config is JSON.
const budgetOf = (budgets: BudgetConfig['budgets']) =>
  extension('budget', register, { config: { budgets: budgets as unknown as JsonValue } });
const started = (budgets: BudgetConfig['budgets'], more: object = {}) =>
  scriptedAgent({ extensions: [budgetOf(budgets)], ...more });

describe('Y-04 a call above a budget', () => {
  test('is denied: the turn ends with a code, and nothing reaches the model', async () => {
    const agent = await started([{ name: 'all', calls: 2 }]);
    await agent.say('one');
    await agent.say('two');
    const { result } = await agent.say('three');
    expect(result.error).toMatchObject({
      code: 'E_BUDGET_EXCEEDED',
      message: 'The budget "all" is used up: 2 of 2 calls are used or reserved.',
    });
    expect(agent.requests).toHaveLength(2);
  });

  test('warns: it is made, with one warning and one mark in the trace', async () => {
    const agent = await started([{ name: 'all', calls: 1, onBreach: 'warn' }]);
    const turns = [await agent.say('one'), await agent.say('two'), await agent.say('three')];
    expect(turns.map(({ text }) => text)).toEqual(['You said: one', 'You said: two', 'You said: three']);
    const warnings = agent.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warnings).toEqual(['The budget "all" is exceeded: more than 1 call.']);
    const notes = turns.map(({ trace }) => trace?.inside[0]?.inside[0]?.layers[0]?.notes);
    expect(notes).toEqual([undefined, ['budget "all" is exceeded'], undefined]);
  });

  test('leaves a mark in the trace when it is refused', async () => {
    const agent = await started([{ name: 'all', calls: 0 }]);
    const { trace } = await agent.say('one');
    expect(trace?.inside[0]?.inside[0]?.layers[0]?.notes).toEqual([
      'budget "all": 0 of 0 calls used or reserved, 1 needed',
    ]);
  });
});

test('Y-04 tokens reserve the estimated input and the most that the answer may have, and settle with the real number', async () => {
  const model = { provider: 'scripted', model: 'm', options: { script: [{ say: 'yes' }] }, params: { maxTokens: 500 } };
  const plan = { modelRef: 'Model/m', models: { 'Model/m': model } };
  const agent = await started([{ name: 'all', tokens: 700 }], plan);
  const reserved: number[] = [];
  for (;;) {
    const { result, trace } = await agent.say('Hello.');
    if (result.error === undefined) {
      reserved.push(trace?.inside[0]?.inside[0]?.reservedTokens ?? 0);
      continue;
    }
    expect(result.error.code).toBe('E_BUDGET_EXCEEDED');
    break;
  }
  // Each call used far fewer tokens than it reserved, so several of them fit.
  expect(reserved.length).toBeGreaterThan(2);
  for (const tokens of reserved) expect(tokens).toBeWithin(501, 700);
});

test('Y-04 a budget of tokens needs a maximum for the answers of every model', async () => {
  const model = { provider: 'scripted', model: 'm', options: { script: [{ say: 'yes' }] } };
  const plan = { modelRef: 'Model/m', models: { 'Model/m': model } };
  expect(started([{ tokens: 700 }], plan)).rejects.toMatchObject({
    code: 'E_BUDGET_UNBOUNDED',
    message: 'Extension "budget" has a budget of tokens, but nothing limits the answers of Model/m.',
  });
  await started([{ tokens: 700 }], { ...plan, params: { maxTokens: 10 } });
  await started([{ calls: 700 }], plan);
});

test('a call that another layer answers costs nothing', async () => {
  const reply = {
    content: [{ type: 'text' as const, text: 'cached' }],
    finishReason: 'stop' as const,
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
  const cache = extension('cache', ({ pipeline }) => {
    pipeline.register('model', (ctx) => (ctx.stepIndex < 9 ? Promise.resolve(reply) : ctx.next()), {
      mayShortCircuit: true,
      priority: 2_000,
    });
  });
  const agent = await scriptedAgent({ extensions: [budgetOf([{ calls: 1 }]), cache] });
  for (const input of ['one', 'two', 'three']) expect((await agent.say(input)).text).toBe('cached');
});

test('budgets have names of their own, and one measure', () => {
  expect(readBudgets({ budgets: [{ calls: 1 }, { tokens: 2, scope: 'agent', per: 'day', onBreach: 'warn' }] })).toEqual(
    [
      { name: 'calls of the swarm', measure: 'calls', limit: 1, scope: 'swarm', onBreach: 'deny' },
      {
        ...{ name: 'tokens of an agent per day', measure: 'tokens', limit: 2, scope: 'agent', per: 'day' },
        ...{ isSoft: true, onBreach: 'warn' },
      },
    ],
  );
  expect(() => readBudgets({ budgets: [{ calls: 1 }, { calls: 2 }] })).toThrow('two budgets have the name');
  expect(() => readBudgets({ budgets: [{ calls: 1, tokens: 2 }] })).toThrow('exactly one of calls, tokens');
});
