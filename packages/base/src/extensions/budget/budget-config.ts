/** The config of `budget`, as budgets for the runtime. */
import { type Budget, GoondanError } from '@goondan/types';

export interface BudgetConfig {
  readonly budgets: readonly ConfiguredBudget[];
  /** The priority of the layer in its tier. */
  readonly priority?: number;
  /** The time after which a question to a person expires. */
  readonly expiresInSeconds?: number;
}

export interface ConfiguredBudget extends Pick<Budget, 'per'> {
  readonly name?: string;
  readonly calls?: number;
  readonly tokens?: number;
  readonly scope?: Budget['scope'];
  readonly onBreach?: 'ask' | 'deny' | 'warn';
}

/** A budget with the decision about calls above it. */
export interface KnownBudget extends Budget {
  readonly onBreach: 'ask' | 'deny' | 'warn';
}

const measures = ['calls', 'tokens'] as const;

/** Reads the budgets. **Errors** — `E_EXT_CONFIG`. */
export function readBudgets({ budgets }: BudgetConfig): readonly KnownBudget[] {
  const known = budgets.map((each, index) => readBudget(each, index));
  const twice = known.find(({ name }, index) => known.findIndex((each) => each.name === name) < index);
  if (twice !== undefined) {
    throw wrong(`two budgets have the name "${twice.name}". Give one of them another \`name\`.`);
  }
  return known;
}

function readBudget(configured: ConfiguredBudget, index: number): KnownBudget {
  const { scope = 'swarm', per, onBreach = 'deny' } = configured;
  const given = measures.filter((measure) => configured[measure] !== undefined);
  const [measure] = given;
  if (measure === undefined || given.length > 1) {
    throw wrong(`budgets[${index}] must have exactly one of ${measures.join(', ')}.`);
  }
  const { name = `${measure} of ${whose(scope)}${per === undefined ? '' : ' per day'}` } = configured;
  const limit = configured[measure] ?? 0;
  return { name, measure, limit, scope, ...(per && { per }), ...(onBreach === 'warn' && { isSoft: true }), onBreach };
}

function whose(scope: Budget['scope']): string {
  return scope === 'agent' ? 'an agent' : scope === 'swarm' ? 'the swarm' : `a ${scope}`;
}

function wrong(problem: string): GoondanError {
  return new GoondanError('E_EXT_CONFIG', `Extension/budget: ${problem}`);
}
