/** The most tokens that the answer of a model may have, and the price of the model. */
import { type Budget, findPrice, type ModelPrice, type Prices } from '@goondan/types';
import type { ModelSpec } from '../../config/model-spec.ts';
import { findUncountedModel, mostOutputOf, mostTextOf, type UncountedModel } from '../../config/uncounted-model.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import type { ModelCall } from './model-context.ts';

type Called = Pick<ModelCall, 'modelRef' | 'params'>;

/** Returns `undefined` if neither the call nor the model nor the price file has a maximum. */
export function mostTokensOf(plan: Pick<PlanInForce, 'openModel'>, call: Called, prices?: Prices): number | undefined {
  return mostOutputOf(specOf(plan, call), call.params, prices);
}

/** Returns the maximum of the answer as it is sent to the provider, without thinking. */
export function mostTextFor(plan: Pick<PlanInForce, 'openModel'>, call: Called, prices?: Prices): number | undefined {
  return mostTextOf(specOf(plan, call), call.params, prices);
}

/** Returns the reason why a budget cannot count this call. The calls of models without a spec are counted by an estimate. */
export function findUncountedCall(
  plan: Pick<PlanInForce, 'openModel'>,
  call: Called,
  budget: Pick<Budget, 'measure' | 'prices'>,
): UncountedModel | undefined {
  const spec = specOf(plan, call);
  return spec && findUncountedModel(budget, call.modelRef, spec, call.params);
}

/** Returns the price of the called model; `undefined` if the file does not have it. */
export function priceFor(
  plan: Pick<PlanInForce, 'openModel'>,
  call: Pick<Called, 'modelRef'>,
  prices: Prices | undefined,
): ModelPrice | undefined {
  const spec = specOf(plan, call);
  return spec === undefined || prices === undefined ? undefined : findPrice(prices, spec);
}

/** Models that a program passes in have no spec. */
function specOf({ openModel: { entries } }: Pick<PlanInForce, 'openModel'>, { modelRef }: Pick<Called, 'modelRef'>) {
  const entry = Object.hasOwn(entries, modelRef) ? entries[modelRef] : undefined;
  return entry === undefined || 'generate' in entry ? undefined : (entry satisfies ModelSpec);
}
