import { checkPrices } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';

const MOST_BUDGETS = 32;

/** Returns the problem of the option `budgets`; `undefined` if there is none. */
export function problemWithBudgets(budgets: unknown): string | undefined {
  if (!Array.isArray(budgets) || budgets.length === 0 || budgets.length > MOST_BUDGETS) {
    return `budgets is not a list of 1 to ${MOST_BUDGETS} budgets`;
  }
  const names = new Set<unknown>();
  for (const [index, budget] of budgets.entries()) {
    const problem = problemWithBudget(budget);
    if (problem !== undefined) return `budgets[${index}]: ${problem}`;
    if (names.has(budget.name)) return `budgets[${index}]: another one has the name "${budget.name}"`;
    names.add(budget.name);
  }
  return undefined;
}

function problemWithBudget(budget: unknown): string | undefined {
  if (!isPlainObject(budget)) return 'it is not an object';
  const { name, measure, limit, scope, per, isSoft, prices } = budget;
  if (typeof name !== 'string' || name === '' || name.length > 100) return 'name is not a text of 1 to 100 characters';
  if (measure !== 'calls' && measure !== 'tokens' && measure !== 'money') return 'measure is unknown';
  if (measure === 'money' && prices === undefined) return 'money needs prices';
  const problem = prices === undefined ? undefined : problemWithPrices(prices);
  if (problem !== undefined) return problem;
  if (typeof limit !== 'number' || !(limit >= 0 && limit <= Number.MAX_SAFE_INTEGER)) return 'limit is not a number';
  if (scope !== 'turn' && scope !== 'conversation' && scope !== 'agent' && scope !== 'swarm') return 'scope is unknown';
  if (per !== undefined && per !== 'day') return 'per is not day';
  if (isSoft !== undefined && typeof isSoft !== 'boolean') return 'isSoft is not a boolean';
  return undefined;
}

function problemWithPrices(prices: unknown): string | undefined {
  const checked = checkPrices(prices);
  const [first] = 'problems' in checked ? checked.problems : [];
  return first && `prices.${first.path.join('.')} ${first.message}`;
}
