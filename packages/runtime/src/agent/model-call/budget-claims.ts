/** The budgets of a layer as claims of its call. */
import { type Budget, GoondanError } from '@goondan/types';
import { describeUncounted, findUncountedModel, type UncountedModel } from '../../config/uncounted-model.ts';
import { counterOfBudget } from '../../counters/budget.ts';
import type { CallClaim } from '../../ipc/from-agent.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';

/** Returns the claim of a call that needs `amount`. */
export function claimBudget(extension: string, budget: Budget, amount: number): CallClaim {
  const { name, measure, limit, scope, per, isSoft = false } = budget;
  const counted = counterOfBudget({ extension, budget: name, measure, scope, ...(per && { per }) });
  return { ...counted, amount, limit, ...(isSoft && { isSoft }) };
}

/**
 * Refuses a plan with a model whose answers have no maximum, if a layer counts tokens, or without a price, if it counts
 * money. The check of a bundle finds the same in its files. **Errors** — `E_BUDGET_UNBOUNDED`.
 */
export function checkBudgets(layers: readonly Layer[], plan: Pick<PlanInForce, 'openModel' | 'params'>): void {
  for (const { extension, budgets = [] } of layers) {
    for (const budget of budgets) {
      for (const [modelRef, entry] of Object.entries(plan.openModel.entries)) {
        // Models of code and of a replay have no spec.
        if ('generate' in entry) continue;
        const uncounted = findUncountedModel(budget, modelRef, entry, plan.params);
        if (uncounted !== undefined) throw unbounded(extension, budget.measure, uncounted);
      }
    }
  }
}

export function unbounded(
  extension: string,
  measure: Budget['measure'],
  { problem, suggestion }: UncountedModel,
): GoondanError {
  const message = describeUncounted(`Extension "${extension}"`, measure, problem);
  return new GoondanError('E_BUDGET_UNBOUNDED', message, { suggestion });
}
