import type { TurnResult } from '@goondan/types';

/** The limits that an answer ran into, each a sentence that names the field: without them it may not be what was asked for. */
export function describeLimits(
  { finishReason, truncated }: Pick<TurnResult, 'finishReason' | 'truncated'>,
  steps: number,
): string[] {
  return [
    ...(finishReason === 'max_steps'
      ? [`The turn was ended after ${steps} steps, its limit (policy.maxStepsPerTurn).`]
      : []),
    ...(truncated === true ? ["The answer was cut off at the model's limit of tokens (params.maxTokens)."] : []),
  ];
}
