import { describe, expect, test } from 'bun:test';
import { extension, fakeApprover, scriptedAgent } from '@goondan/runtime/testing';
import type { JsonValue } from '@goondan/types';
import type { BudgetConfig } from './budget-config.ts';
import { readBudgets } from './budget-config.ts';
import { register } from './register.ts';

// Safe: the config is JSON.
const budgetOf = (budgets: BudgetConfig['budgets']) =>
  extension('budget', register, { config: { budgets: budgets as unknown as JsonValue } });
const started = (budgets: BudgetConfig['budgets'], more: object = {}) =>
  scriptedAgent({ extensions: [budgetOf(budgets)], ...more });

/** A plan with one scripted model. `more`: other fields of the model. */
const planOf = (more: object = {}) => {
  const model = { provider: 'scripted', model: 'm', options: { script: [{ say: 'yes' }] }, ...more };
  return { modelRef: 'Model/m', models: { 'Model/m': model } };
};

describe('Y-04 a call above a budget', () => {
  test('is denied: the turn ends with a code, and nothing reaches the model', async () => {
    const agent = await started([{ name: 'all', calls: 2 }]);
    await agent.say('one');
    await agent.say('two');
    const { result } = await agent.say('three');
    expect(result.error).toMatchObject({
      code: 'E_BUDGET_EXCEEDED',
      message: 'The budget "all" allows 2 calls: 2 used, 0 reserved by running calls.',
      suggestion: 'Raise the budget "all" in the config of the extension.',
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
  const agent = await started([{ name: 'all', tokens: 700 }], planOf({ params: { maxTokens: 500 } }));
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

test.each([
  [{ tokens: 900, per: 'day' as const }, '900 tokens a day', 'or lower `params.maxTokens` of the model.'],
  [{ tokens: 800 }, '800 tokens', 'Raise the budget "all" in the config of the extension.'],
  [{ tokens: 800, per: 'day' as const }, '800 tokens a day', 'or wait until midnight in UTC.'],
])('Y-04 a refused call says the budget, what is used, and what it may need: %j', async (budget, allows, advice) => {
  const maxTokens = budget.tokens === 900 ? 1_000 : 500;
  const options = { script: [{ say: 'yes '.repeat(100) }] };
  const agent = await started([{ name: 'all', ...budget }], planOf({ options, params: { maxTokens } }));
  const errors = [];
  for (let turn = 0; turn < 3; turn += 1) errors.push((await agent.say('Hello.')).result.error);
  const [first] = errors;
  const refused = errors.find((each) => each !== undefined);
  expect(first === undefined).toBe(maxTokens === 500);
  const counted = first === undefined ? '[1-9]\\d* used' : '0 used';
  const text = `The budget "all" allows ${allows}: ${counted}, 0 reserved by running calls, and this call may need \\d+.`;
  expect(refused?.message).toMatch(new RegExp(`^${text}$`));
  expect(refused?.suggestion).toContain(advice);
});

test('Y-04 a budget of tokens needs a maximum for the answers of every model', async () => {
  const plan = planOf();
  expect(started([{ tokens: 700 }], plan)).rejects.toMatchObject({
    code: 'E_BUDGET_UNBOUNDED',
    message: 'Extension "budget" has a budget of tokens, but an answer of Model/m may be as long as the model allows.',
  });
  await started([{ tokens: 700 }], { ...plan, params: { maxTokens: 10 } });
  await started([{ calls: 700 }], plan);
});

describe('Y-04 a budget of money', () => {
  const plan = planOf();
  const model = plan.models['Model/m'];
  const price = { provider: 'scripted', model: 'm', input: 10, output: 10_000, source: 'a test', date: '2026-11-17' };
  const prices = (more: object = {}) => ({ currency: 'EUR', models: [{ ...price, ...more }] });
  const priced = (config: object, more: object = {}) => {
    const registered = extension('budget', register, { config: { budgets: [{ money: 8, name: 'all' }], ...config } });
    return scriptedAgent({ ...plan, ...more, extensions: [registered] });
  };

  test('reserves the most that a call may cost, and settles with its cost', async () => {
    const agent = await priced({ prices: prices({ maxOutputTokens: 500 }) });
    const costs: number[] = [];
    for (;;) {
      const { result, usage } = await agent.say('Hello.');
      if (result.error === undefined) {
        costs.push((usage.inputTokens * 10 + usage.outputTokens * 10_000) / 1_000_000);
        continue;
      }
      expect(result.error).toMatchObject({ code: 'E_BUDGET_EXCEEDED', message: expect.stringContaining('EUR') });
      break;
    }
    // An answer of 500 tokens would cost 5 euros, so the last call was refused when less than that was left.
    const spent = costs.reduce((sum, cost) => sum + cost, 0);
    expect(spent).toBeGreaterThan(2.5);
    expect(spent).toBeLessThanOrEqual(8);
  });

  test('sends the maximum of the price file as the limit of the answer, if nothing else limits it', async () => {
    const [limited, own] = [{}, { params: { maxTokens: 70 } }].map((more) =>
      priced({ prices: prices({ maxOutputTokens: 100 }) }, more),
    );
    const sent = async (agent: typeof limited) => {
      const { trace } = (await agent?.then((each) => each.say('Hello.'))) ?? {};
      return trace?.inside[0]?.inside[0]?.request?.params.maxTokens;
    };
    expect([await sent(limited), await sent(own)]).toEqual([100, 70]);
  });

  test('asks for the amount that the approval adds: its size, or what the call lacks', async () => {
    const approver = fakeApprover(() => ({ decision: 'approved' }));
    const config = (money: number) => ({
      budgets: [{ money, name: 'all', onBreach: 'ask' }],
      prices: prices({ maxOutputTokens: 500 }),
    });
    for (const money of [0.0001, 4]) {
      const agent = await priced(config(money), { approver });
      const { trace } = await agent.say('Hello.');
      expect(trace?.inside[0]?.inside[0]?.layers[0]?.notes?.[0]).toStartWith(`budget "all": 0 of ${money} EUR used`);
    }
    const [lacks, size] = approver.questions.map(({ args, reason }) => ({
      asked: Number(/Approve ([\d.]+) EUR more\?$/.exec(reason)?.[1]),
      granted: Number(args['to']) - Number(args['limit']),
    }));
    expect(lacks?.asked).toBeCloseTo(lacks?.granted ?? 0, 6);
    expect(lacks?.asked).toBeGreaterThan(5);
    expect(size).toEqual({ asked: 4, granted: 4 });
  });

  test('settles a call by the price of the model that was called, which a layer inside may choose', async () => {
    const free = { ...price, model: 'free', input: 0, output: 0 };
    const { models } = prices({ maxOutputTokens: 500 });
    const list = [...models, { ...free, maxOutputTokens: 500 }];
    const choose = extension('choose', ({ pipeline }) => {
      pipeline.register(
        'model',
        (ctx) => {
          ctx.modelRef = 'Model/free';
          return ctx.next();
        },
        { priority: 2_000 },
      );
    });
    const config = { budgets: [{ money: 5.005, name: 'all' }], prices: { currency: 'EUR', models: list } };
    const counted = { 'Model/m': model, 'Model/free': { ...model, model: 'free' } };
    const extensions = [extension('budget', register, { config }), choose];
    const agent = await scriptedAgent({ modelRef: 'Model/m', models: counted, extensions });
    // Each call reserves five euros and costs nothing.
    for (const input of ['one', 'two', 'three']) expect((await agent.say(input)).result.error).toBeUndefined();
  });

  test('needs a price and a maximum for every model', async () => {
    const refused = async (config: object, more: object = {}) => {
      const outcome = await priced(config, more).catch((error: unknown) => error);
      return outcome instanceof Error ? outcome.message : 'started';
    };
    expect(await refused({ prices: prices({ model: 'other' }) }, { params: { maxTokens: 5 } })).toBe(
      'Extension "budget" has a budget of money, but Model/m has no price.',
    );
    expect(await refused({ prices: prices() })).toBe(
      'Extension "budget" has a budget of money, but an answer of Model/m may be as long as the model allows.',
    );
    expect(await refused({ prices: prices() }, { params: { maxTokens: 5 } })).toBe('started');
    expect(await refused({})).toContain('counts money, so the config needs `prices`');
    expect(await refused({ prices: prices({ input: -1 }) })).toContain('prices.models.0.input must be a number');
    // The maximum of the price file is enough for a budget of tokens, too.
    expect(await refused({ budgets: [{ tokens: 9 }], prices: prices({ maxOutputTokens: 5 }) })).toBe('started');
  });
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
  expect(() => readBudgets({ budgets: [{ calls: 1, tokens: 2 }] })).toThrow('exactly one of calls, tokens, money');
});
