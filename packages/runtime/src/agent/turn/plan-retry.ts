import { isFallback, isRetryable, MOST_FALLBACKS, retryAfterMsOf } from '../pipeline/turn-error.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';

export interface Retry {
  readonly delayMs: number;
  /** True if the next attempt uses something else. Such a retry is not one of the policy's. */
  readonly isFallback?: true;
}

/**
 * Decides whether a failed step is retried, and after which delay. `failures`: the number of failures of this step,
 * including this one, without fallbacks. `fallbacks`: the number of fallbacks before this failure.
 */
export function planRetry(error: unknown, failures: number, policy: TurnPolicy, fallbacks = 0): Retry | undefined {
  if (isFallback(error) && fallbacks < MOST_FALLBACKS) return { delayMs: 0, isFallback: true };
  if (!isRetryable(error) || failures > policy.maxStepRetries) return undefined;
  const backoff = Math.min(policy.retryBaseMs * 2 ** (failures - 1), policy.retryMaxMs);
  return { delayMs: retryAfterMsOf(error) ?? backoff };
}
