/** The config of `budget`, as budgets for the runtime. */
import { type Budget, budgetNameOf, checkPrices, GoondanError, type Prices } from '@goondan/types';

export interface BudgetConfig {
  readonly budgets: readonly ConfiguredBudget[];
  /** The contents of a price file, for budgets of money and for the maximum of answers. */
  readonly prices?: Prices;
  /** The priority of the layer in its tier. */
  readonly priority?: number;
  /** The time after which a question to a person expires. */
  readonly expiresInSeconds?: number;
}

export interface ConfiguredBudget extends Pick<Budget, 'per'> {
  readonly name?: string;
  readonly calls?: number;
  readonly tokens?: number;
  readonly money?: number;
  readonly scope?: Budget['scope'];
  readonly onBreach?: 'ask' | 'deny' | 'warn';
}

/** A budget with the decision about calls above it. */
export interface KnownBudget extends Budget {
  readonly onBreach: 'ask' | 'deny' | 'warn';
}

const measures = ['calls', 'tokens', 'money'] as const;

/** Reads the budgets. **Errors** — `E_EXT_CONFIG`. */
export function readBudgets({ budgets, prices }: BudgetConfig): readonly KnownBudget[] {
  refuseBadPrices(prices);
  const known = budgets.map((each, index) => readBudget(each, index, prices));
  const twice = known.find(({ name }, index) => known.findIndex((each) => each.name === name) < index);
  if (twice !== undefined) {
    throw wrong(`two budgets have the name "${twice.name}". Give one of them another \`name\`.`);
  }
  return known;
}

function readBudget(configured: ConfiguredBudget, index: number, prices: Prices | undefined): KnownBudget {
  const { scope = 'swarm', per, onBreach = 'deny' } = configured;
  const given = measures.filter((measure) => configured[measure] !== undefined);
  const [measure] = given;
  if (measure === undefined || given.length > 1) {
    throw wrong(`budgets[${index}] must have exactly one of ${measures.join(', ')}.`);
  }
  if (measure === 'money' && prices === undefined) {
    throw wrong(`budgets[${index}] counts money, so the config needs \`prices\`.`);
  }
  const counted = { measure, scope, ...(per && { per }) };
  const { name = budgetNameOf(counted) } = configured;
  const limit = configured[measure] ?? 0;
  const known = { name, limit, ...counted, ...(onBreach === 'warn' && { isSoft: true }) };
  return { ...known, ...(measure !== 'calls' && prices && { prices }), onBreach };
}

/** Refuses prices with mistakes, and names the first one. */
function refuseBadPrices(prices: unknown): void {
  if (prices === undefined) return;
  const checked = checkPrices(prices);
  const [first] = 'problems' in checked ? checked.problems : [];
  if (first !== undefined) throw wrong(`prices.${first.path.join('.')} ${first.message}.`);
}

function wrong(problem: string): GoondanError {
  return new GoondanError('E_EXT_CONFIG', `Extension/budget: ${problem}`);
}
