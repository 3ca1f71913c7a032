/** The counter of a budget that an extension declares, and the question to a person who may raise it. */
import type { JsonObject } from '@goondan/types';
import type { CounterWindow } from './claim.ts';
import type { CounterScope } from './counter-name.ts';

export interface CountedBudget {
  readonly extension: string;
  /** The name of the budget in its extension. */
  readonly budget: string;
  readonly measure: 'calls' | 'tokens' | 'money';
  readonly scope: CounterScope;
  /** Absent if the budget does not begin again. */
  readonly per?: 'day';
}

/** The arguments of a question about a budget. */
export interface BudgetToApprove extends CountedBudget {
  /** The limit that was reached, and the limit after the approval. */
  readonly limit: number;
  readonly to: number;
  /** The day whose limit was reached, such as `2026-11-17`; absent if the budget does not begin again. */
  readonly day?: string;
  /** The unit of money; absent for other measures. */
  readonly currency?: string;
}

/** Returns the counter of a budget, without the place of a turn. */
export function counterOfBudget({ extension, budget, measure, scope, per }: CountedBudget) {
  const window: CounterWindow = per ?? 'ever';
  return { scope, window, counter: JSON.stringify(['budget', extension, budget, measure, window]) };
}

/** Reads the arguments of a question about a budget; `undefined` if they are something else. */
export function readBudget(args: JsonObject): BudgetToApprove | undefined {
  const { extension, budget, measure, scope, per, limit, to, currency, day } = args;
  const isBudget =
    typeof extension === 'string' &&
    typeof budget === 'string' &&
    (measure === 'calls' || measure === 'tokens' || measure === 'money') &&
    (scope === 'turn' || scope === 'conversation' || scope === 'agent' || scope === 'swarm') &&
    (per === undefined || per === 'day') &&
    (day === undefined || (typeof day === 'string' && !Number.isNaN(Date.parse(day)))) &&
    typeof limit === 'number' &&
    typeof to === 'number';
  if (!isBudget) return undefined;
  const unit = typeof currency === 'string' ? { currency } : {};
  const window = { ...(per === 'day' && { per: 'day' as const }), ...(day !== undefined && { day }) };
  return { extension, budget, measure, scope, ...window, limit, to, ...unit };
}
