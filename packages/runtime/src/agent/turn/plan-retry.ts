import { isRetryable, retryAfterMsOf } from '../pipeline/turn-error.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';

/**
 * Decides whether a failed step is retried, and after which delay. `failures`: the number of failures of this step,
 * including this one.
 */
export function planRetry(error: unknown, failures: number, policy: TurnPolicy): { delayMs: number } | undefined {
  if (!isRetryable(error) || failures > policy.maxStepRetries) return undefined;
  const backoff = Math.min(policy.retryBaseMs * 2 ** (failures - 1), policy.retryMaxMs);
  return { delayMs: retryAfterMsOf(error) ?? backoff };
}
