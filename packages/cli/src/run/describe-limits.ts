import type { TurnResult } from '@goondan/types';

/** Describes each limit that the answer reached in a sentence that names its field: the answer may be incomplete. */
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
