/** The budgets of a layer as claims of its call. */
import { type Budget, GoondanError } from '@goondan/types';
import { counterOfBudget } from '../../counters/budget.ts';
import type { CallClaim } from '../../ipc/from-agent.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import { mostTokensOf } from './most-tokens.ts';

/** Returns the claim of a call that needs `amount`. */
export function claimBudget(extension: string, budget: Budget, amount: number): CallClaim {
  const { name, measure, limit, scope, per, isSoft = false } = budget;
  const counted = counterOfBudget({ extension, budget: name, measure, scope, ...(per && { per }) });
  return { ...counted, amount, limit, ...(isSoft && { isSoft }) };
}

/**
 * Refuses a plan with a model whose answers have no maximum, if a layer counts tokens. **Errors** — `E_BUDGET_UNBOUNDED`.
 */
export function checkBudgets(layers: readonly Layer[], plan: Pick<PlanInForce, 'openModel' | 'params'>): void {
  const counting = layers.find(({ budgets = [] }) => budgets.some(({ measure }) => measure !== 'calls'));
  if (counting === undefined) return;
  for (const [modelRef, entry] of Object.entries(plan.openModel.entries)) {
    // Models of code and of a replay have no spec.
    if ('generate' in entry || mostTokensOf(plan, { modelRef, params: plan.params }) !== undefined) continue;
    throw new GoondanError(
      'E_BUDGET_UNBOUNDED',
      `Extension "${counting.extension}" has a budget of tokens, but nothing limits the answers of ${modelRef}.`,
    );
  }
}
