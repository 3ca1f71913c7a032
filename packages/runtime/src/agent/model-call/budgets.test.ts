/** Tests `ctx.budgets` in resumed turns and in replays, and its mistakes. */
import { describe, expect, test } from 'bun:test';
import {
  type Budget,
  type BudgetOutcome,
  type ExtensionRegister,
  GoondanError,
  type ModelMiddlewareContext,
  type ModelReply,
} from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { appendRest } from '../../testing/append-rest.ts';
import { fakeApprover } from '../../testing/fake-approver.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import type { TurnRecord } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import { type CallCounters, ownCounters } from '../seams/counters.ts';

const budget = (limit: number): Budget => ({ name: 'all', measure: 'calls', limit, scope: 'swarm' });

/** Ends the turn with an error if the budget refuses its call. */
const guard = (limit: number, outcomes: BudgetOutcome[] = []): ExtensionRegister =>
  layerOf(
    'model',
    async (ctx) => {
      const outcome = await ctx.budgets.reserve();
      outcomes.push(outcome);
      if (!outcome.ok) throw new Error(`${outcome.used} of ${outcome.limit}`);
      return ctx.next();
    },
    { name: 'guard', budgets: [budget(limit)] },
  );

const models = { 'Model/m': { provider: 'scripted' as const, model: 'm', options: { script: [{ say: 'yes' }] } } };

describe('Y-04 a replay gets the recorded outcome of a budget', () => {
  test.each([1, 0])('with a budget of %d calls', async (limit) => {
    const plan = { agentName: 'helper', models, extensions: [extension('guard', guard(limit))] };
    const { start } = await recordInMemory(plan, ['go']);
    expect(start.recording.effects.filter(({ kind }) => kind === 'budget')).toHaveLength(1);
    expect(await replayTurn(plan, start)).toMatchObject({ others: 0, served: { budget: 1 } });
    const other = { ...plan, extensions: [extension('guard', guard(7))] };
    expect(await replayTurn(other, start)).toMatchObject({ first: { extension: 'guard', what: 'asked' } });
  });
});

test('a layer without budgets cannot reserve, and a budget that did not refuse is not asked about', async () => {
  const errors: unknown[] = [];
  const greedy: ExtensionRegister = ({ pipeline }) => {
    pipeline.register('model', async (ctx) => {
      await ctx.budgets.reserve().catch((error: unknown) => errors.push(error));
      return ctx.next();
    });
    pipeline.register(
      'model',
      async (ctx) => {
        await ctx.budgets.ask('all', { reason: 'More.' }).catch((error: unknown) => errors.push(error));
        return ctx.next();
      },
      { budgets: [budget(1)] },
    );
  };
  const agent = await scriptedAgent({ extensions: [extension('greedy', greedy)] });
  expect((await agent.say('go')).text).toBe('You said: go');
  expect(errors).toMatchObject([{ code: 'E_PIPELINE_OPTIONS' }, { code: 'E_APPROVAL_REQUEST' }]);
});

test('Y-04 a retried call counts again, because it reaches the provider again', async () => {
  const outcomes: BudgetOutcome[] = [];
  const script = [{ fail: { message: 'Busy.', retryable: true, times: 2 } }, { say: 'yes' }];
  const agent = await scriptedAgent({ script, extensions: [extension('guard', guard(2, outcomes))] });
  const { result } = await agent.say('go');
  expect(result.error?.message).toContain('2 of 2');
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, false]);
});

test('Y-04 a budget of a turn begins again with each turn, also of an agent that runs alone', async () => {
  const outcomes: boolean[] = [];
  const once = layerOf(
    'model',
    async (ctx) => {
      for (const _ of ['first', 'second']) outcomes.push((await ctx.budgets.reserve()).ok);
      return ctx.next();
    },
    { budgets: [{ ...budget(1), scope: 'turn' }] },
  );
  const agent = await scriptedAgent({ extensions: [extension('once', once)] });
  for (const input of ['one', 'two']) await agent.say(input);
  expect(outcomes).toEqual([true, false, true, false]);
});

const address = { agentName: 'tested', instanceKey: 'default' };

test('Y-04 a resumed turn does not reserve a call whose reply is recorded', async () => {
  const written: TurnRecord[] = [];
  const [first, second] = [memoryStore(), memoryStore()];
  const append: typeof first.append = (...given) => {
    written.push(...given[3]);
    return first.append(...given);
  };
  const guarded = (limit: number) => ({ extensions: [extension('guard', guard(limit))] });
  await (await scriptedAgent({ ...guarded(1), store: appendRest({ ...first, append }) })).say('go');
  const replied = written.findIndex((record) => record.type === 'effect' && record.kind === 'model');
  const { epoch } = await second.open(address, 'turn-event-1');
  await second.append(address, epoch, 0, written.slice(0, replied + 1));
  const resumed = await scriptedAgent({ ...guarded(0), store: second });
  expect([(await resumed.say('go')).text, resumed.requests.length]).toEqual(['You said: go', 0]);
});

describe('Y-04 a budget of tokens counts everything that was reserved', () => {
  const reply: ModelReply = {
    content: [{ type: 'text', text: 'yes' }],
    finishReason: 'stop',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
  const refuse = () => Promise.reject(new GoondanError('E_MODEL_FAILED', 'The provider failed.'));
  const calls: readonly (readonly [what: string, generate: Model['generate'], isCounted: boolean])[] = [
    [
      'for a call that fails after it began to answer',
      (request) => (request.onDelta?.({ type: 'text', text: 'y' }), refuse()),
      true,
    ],
    [
      'for a call that breaks off',
      () => Promise.reject(new GoondanError('E_MODEL_FAILED', 'It broke off.', { failure: 'broken-off' })),
      true,
    ],
    ['for an answer without counts', () => Promise.resolve(reply), true],
    ['but not for a call that the provider refused', refuse, false],
  ];
  test.each(calls)('%s', async (_, generate, isCounted) => {
    const outcomes: BudgetOutcome[] = [];
    const register = layerOf(
      'model',
      async (ctx) => {
        outcomes.push(await ctx.budgets.reserve());
        return ctx.next();
      },
      { budgets: [{ ...budget(5_000), measure: 'tokens' }] },
    );
    const agent = await scriptedAgent({ model: { generate }, extensions: [extension('guard', register)] });
    await agent.say('one');
    await agent.say('two');
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, !isCounted]);
  });
});

describe('Y-04 a layer with a budget of tokens', () => {
  const counting = layerOf('model', async (ctx) => (await ctx.budgets.reserve(), ctx.next()), {
    budgets: [{ ...budget(1_000_000), measure: 'tokens' }],
  });
  /** Runs a turn with a layer that changes the request, and returns the reserved amounts. */
  const run = async (names: readonly string[], change: (ctx: ModelMiddlewareContext) => void) => {
    const amounts: number[] = [];
    const own = ownCounters(systemClock, address);
    const counters: CallCounters = {
      ...own,
      reserve(reservation, signal) {
        amounts.push(...reservation.claims.map(({ amount }) => amount));
        return own.reserve(reservation, signal);
      },
    };
    const changing = layerOf('model', (ctx) => (change(ctx), ctx.next()));
    const extensions = names.map((name) => extension(name, name === 'changing' ? changing : counting));
    const plan = { agentName: 'helper', models, params: { maxTokens: 100 }, extensions };
    const { result } = await recordInMemory(plan, ['go'], { counters });
    return { amounts, error: result.error };
  };

  test('estimates the request that it gets, and not that of another one', async () => {
    const { amounts } = await run(['outer', 'changing', 'inner'], (ctx) => {
      ctx.messages.push({ role: 'user', content: 'x'.repeat(10_000) });
    });
    expect((amounts[1] ?? 0) - (amounts[0] ?? 0)).toBeGreaterThan(4_000);
  });

  test.each([
    ['that has lost', { temperature: 0 }],
    ['with -1 as', { maxTokens: -1 }],
    ['with no number as', { maxTokens: NaN }],
  ])('refuses a call %s the maximum of its answer', async (_, params) => {
    const { amounts, error } = await run(['changing', 'inner'], (ctx) => {
      ctx.params = params;
    });
    expect([amounts, error?.code]).toEqual([[], 'E_BUDGET_UNBOUNDED']);
    expect(error?.message).toContain('an answer of Model/m may be as long as the model allows');
  });
});

describe('Y-04 the question about a budget', () => {
  const asking = layerOf(
    'model',
    async (ctx) => {
      let outcome = await ctx.budgets.reserve();
      if (!outcome.ok) await ctx.budgets.ask('small', { reason: 'More?' });
      outcome = await ctx.budgets.reserve();
      if (!outcome.ok) throw new Error('refused');
      return ctx.next();
    },
    {
      budgets: [
        { ...budget(9), name: 'calls' },
        { ...budget(10), name: 'small', measure: 'tokens' },
      ],
    },
  );

  test('asks for enough for the call that was refused', async () => {
    const approver = fakeApprover(() => ({ decision: 'denied' }));
    const agent = await scriptedAgent({ approver, extensions: [extension('asking', asking)] });
    await agent.say('go');
    const args = approver.questions[0]?.args;
    expect(args).toMatchObject({ budget: 'small', limit: 10 });
    // The answer of a model without a maximum is expected to have 4096 tokens.
    expect(args?.['to']).toBeGreaterThan(4_096);
  });

  test('asks for enough, although sums of fractions have errors', async () => {
    const [limit, used] = [0.79, 0.36];
    const approver = fakeApprover(() => ({ decision: 'denied' }));
    const counters: CallCounters = {
      ...ownCounters(systemClock, address),
      reserve: async () => ({ status: 'refused', claim: 0, used, reserved: 0, limit }),
    };
    const more = layerOf(
      'model',
      async (ctx) => {
        await ctx.budgets.reserve();
        await ctx.budgets.ask('all', { reason: 'More?' });
        return ctx.next();
      },
      { budgets: [budget(0.01)] },
    );
    await recordInMemory({ agentName: 'helper', models, extensions: [extension('more', more)] }, ['go'], {
      approver,
      counters,
    });
    expect(approver.questions[0]?.args?.['to']).toBe(1.36);
  });

  test('is about a budget that refused the call, and not about another one', async () => {
    const approver = fakeApprover(() => ({ decision: 'approved' }));
    const other = layerOf(
      'model',
      async (ctx) => {
        await ctx.budgets.reserve();
        await ctx.budgets.ask('large', { reason: 'More?' });
        return ctx.next();
      },
      {
        budgets: [
          { ...budget(9), name: 'large' },
          { ...budget(0), name: 'small' },
        ],
      },
    );
    const agent = await scriptedAgent({ approver, extensions: [extension('other', other)] });
    expect((await agent.say('go')).result.error).toMatchObject({ code: 'E_APPROVAL_REQUEST' });
    expect(approver.questions).toEqual([]);
  });

  test('raises the budget, but not in a replay', async () => {
    const raised: unknown[] = [];
    const own = ownCounters(systemClock, address);
    const counters: CallCounters = {
      ...own,
      async reserve(reservation, signal) {
        if (raised.length === 0) return { status: 'refused', claim: 1, used: 0, reserved: 0, limit: 10 };
        return own.reserve({ ...reservation, claims: [] }, signal);
      },
      raise: async (_, args) => void raised.push(args),
    };
    const params = { maxTokens: 100 };
    const plan = { agentName: 'helper', models, params, extensions: [extension('asking', asking)] };
    const approver = fakeApprover(() => ({ decision: 'approved' }));
    const { result, start } = await recordInMemory(plan, ['go'], { approver, counters });
    expect([result.error, raised.length]).toEqual([undefined, 1]);
    expect(await replayTurn(plan, start)).toMatchObject({ others: 0, served: { budget: 2, approval: 1 } });
  });
});
