/**
 * `budget`: limits the model calls, tokens and cost of a turn, a conversation, an agent or the swarm. A call above a budget is
 * denied, or a person is asked, or a warning is logged.
 */
import { type BudgetOutcome, type ExtensionRegister, GoondanError } from '@goondan/types';
import { type BudgetConfig, type KnownBudget, readBudgets } from './budget-config.ts';

/** Inside other swarm-wide layers, so that the reserved call is the one that is made. */
const PRIORITY = 1_000;

type Refusal = Extract<BudgetOutcome, { readonly ok: false }>;

export const register: ExtensionRegister<BudgetConfig> = (api, config) => {
  const known = readBudgets(config);
  const { priority = PRIORITY, expiresInSeconds } = config;
  const expiry = expiresInSeconds === undefined ? {} : { expiresInMs: expiresInSeconds * 1_000 };
  const find = (name: string) => known.find((budget) => budget.name === name);
  api.pipeline.register(
    'model',
    async (ctx) => {
      for (;;) {
        const reserved = await ctx.budgets.reserve();
        if (reserved.ok) {
          for (const name of reserved.over) api.logger.warn(describeOver(find(name), name));
          return ctx.next();
        }
        const budget = find(reserved.name);
        if (budget?.onBreach !== 'ask') throw exceeded(reserved, budget);
        const { decision, note } = await ctx.budgets.ask(reserved.name, {
          reason: `${describeBreach(reserved, budget)} Approve ${amountOf(reserved.more, budget)} more?`,
          ...expiry,
        });
        if (decision !== 'approved') throw exceeded(reserved, budget, decision, note);
      }
    },
    { name: 'budget', priority, budgets: known.map(({ onBreach: _, ...budget }) => budget) },
  );
};

function exceeded(
  refusal: Refusal,
  budget: KnownBudget | undefined,
  decision?: 'denied' | 'expired',
  note?: string,
): GoondanError {
  const answer =
    decision === undefined
      ? ''
      : decision === 'expired'
        ? ' Nobody answered in time.'
        : ` A person denied more${note === undefined ? '.' : `: ${note}`}`;
  return new GoondanError('E_BUDGET_EXCEEDED', `${describeBreach(refusal, budget)}${answer}`, {
    suggestion: suggest(refusal, budget),
  });
}

function describeBreach({ name, used, reserved, needs, limit }: Refusal, budget: KnownBudget | undefined): string {
  const allowed = `${amountOf(limit, budget)}${budget?.per === undefined ? '' : ` a ${budget.per}`}`;
  const call = budget?.measure === 'calls' ? '' : `, and this call may need ${count(needs)}`;
  const counted = `${count(used - reserved)} used, ${count(reserved)} reserved by running calls`;
  return `The budget "${name}" allows ${allowed}: ${counted}${call}.`;
}

function suggest({ used, reserved, needs, limit, name }: Refusal, budget: KnownBudget | undefined): string {
  const raise = `Raise the budget "${name}" in the config of the extension`;
  if (needs > limit && budget?.measure !== 'calls') return `${raise}, or lower \`params.maxTokens\` of the model.`;
  if (used - reserved + needs <= limit) return `${raise}, or try again when the running calls have ended.`;
  return budget?.per === 'day' ? `${raise}, or wait until midnight in UTC.` : `${raise}.`;
}

function describeOver(budget: KnownBudget | undefined, name: string): string {
  return `The budget "${name}" is exceeded: more than ${amountOf(budget?.limit ?? 0, budget)}.`;
}

function amountOf(amount: number, budget: KnownBudget | undefined): string {
  const { measure = 'calls', prices } = budget ?? {};
  if (measure === 'money') return `${count(amount)} ${prices?.currency ?? ''}`;
  return amount === 1 ? `1 ${measure.slice(0, -1)}` : `${count(amount)} ${measure}`;
}

/** Shows money with six digits after the point at most. */
function count(amount: number): string {
  return String(Number(amount.toFixed(6)));
}
