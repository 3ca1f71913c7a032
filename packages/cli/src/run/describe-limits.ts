import type { TurnResult } from '@goondan/types';

/** Describes each limit that made the answer incomplete, in a sentence that names the limit's field. */
export function describeLimits(
  { finishReason, truncated }: Pick<TurnResult, 'finishReason' | 'truncated'>,
  steps: number,
): string[] {
  return [
    ...(finishReason === 'max_steps'
      ? [`The turn was ended after ${steps} steps, its limit (policy.maxStepsPerTurn).`]
      : []),
    ...(truncated === true ? ["The answer reached the model's token limit (params.maxTokens) and is incomplete."] : []),
  ];
}
