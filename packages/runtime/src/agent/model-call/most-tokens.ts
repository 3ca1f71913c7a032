/** The most tokens that the answer of a model may have. */
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import type { ModelCall } from './model-context.ts';

/** Returns `undefined` if neither the call nor the model has a maximum. */
export function mostTokensOf(
  { openModel: { entries } }: Pick<PlanInForce, 'openModel'>,
  { modelRef, params }: Pick<ModelCall, 'modelRef' | 'params'>,
): number | undefined {
  const entry = Object.hasOwn(entries, modelRef) ? entries[modelRef] : undefined;
  const own = entry === undefined || 'generate' in entry ? undefined : entry.params?.maxTokens;
  return params.maxTokens ?? own;
}
