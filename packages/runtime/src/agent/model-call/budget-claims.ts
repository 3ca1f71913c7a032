/** The budgets of a layer as claims of its call. */
import { type Budget, GoondanError } from '@goondan/types';
import { counterOfBudget } from '../../counters/budget.ts';
import type { CallClaim } from '../../ipc/from-agent.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import { mostTokensOf, priceFor } from './most-tokens.ts';

/** Returns the claim of a call that needs `amount`. */
export function claimBudget(extension: string, budget: Budget, amount: number): CallClaim {
  const { name, measure, limit, scope, per, isSoft = false } = budget;
  const counted = counterOfBudget({ extension, budget: name, measure, scope, ...(per && { per }) });
  return { ...counted, amount, limit, ...(isSoft && { isSoft }) };
}

/**
 * Refuses a plan with a model whose answers have no maximum, if a layer counts tokens, or without a price, if it counts money. **Errors** — `E_BUDGET_UNBOUNDED`.
 */
export function checkBudgets(layers: readonly Layer[], plan: Pick<PlanInForce, 'openModel' | 'params'>): void {
  for (const { extension, budgets = [] } of layers) {
    for (const { measure, prices } of budgets) {
      if (measure === 'calls') continue;
      for (const [modelRef, entry] of Object.entries(plan.openModel.entries)) {
        // Models of code and of a replay have no spec.
        if ('generate' in entry) continue;
        const isPriced = measure === 'tokens' || priceFor(plan, { modelRef }, prices) !== undefined;
        const isBounded = mostTokensOf(plan, { modelRef, params: plan.params }, prices) !== undefined;
        if (isPriced && isBounded) continue;
        const problem = isPriced ? `nothing limits the answers of ${modelRef}` : `${modelRef} has no price`;
        throw unbounded(extension, measure, problem);
      }
    }
  }
}

export function unbounded(extension: string, measure: Budget['measure'], problem: string): GoondanError {
  return new GoondanError('E_BUDGET_UNBOUNDED', `Extension "${extension}" has a budget of ${measure}, but ${problem}.`);
}
