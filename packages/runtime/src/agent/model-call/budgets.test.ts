/** Tests `ctx.budgets` in resumed turns and in replays, and its mistakes. */
import { describe, expect, test } from 'bun:test';
import type { Budget, BudgetOutcome, ExtensionRegister } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { replayTurn } from '../replay/replay-turn.ts';

const budget = (limit: number): Budget => ({ name: 'all', measure: 'calls', limit, scope: 'swarm' });

/** Ends the turn with an error if the budget refuses its call. */
const guard =
  (limit: number, outcomes: BudgetOutcome[] = []): ExtensionRegister =>
  ({ pipeline }) => {
    pipeline.register(
      'model',
      async (ctx) => {
        const outcome = await ctx.budgets.reserve();
        outcomes.push(outcome);
        if (!outcome.ok) throw new Error(`${outcome.used} of ${outcome.limit}`);
        return ctx.next();
      },
      { name: 'guard', budgets: [budget(limit)] },
    );
  };

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
