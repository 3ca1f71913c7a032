/**
 * Decides when a process that died may be started again.
 *
 * Invariants:
 * 1. From crash number `quickCrashes` on, a start waits `min(baseMs·2^(n-1), maxMs)`, where n is 1 for that crash and
 *    grows by one with each further crash.
 * 2. `notBefore` applies to every start, whatever its cause: there is no second way to a spawn.
 * 3. The count is reset to 0 only after `healthyMs` of readiness without a crash: neither a good turn nor time without
 *    a process resets it. Readiness adds up over hibernations.
 * 4. The restart budget: any window of `healthyMs` has fewer than `quickCrashes` restarts without a wait (by 3, crashes
 *    before and after a reset are further apart than that).
 */

import type { RestartPolicy } from '../../config/swarm-policy.ts';

export const defaultRestartPolicy: RestartPolicy = {
  quickCrashes: 5,
  baseMs: 1_000,
  maxMs: 300_000,
  healthyMs: 600_000,
};

export interface RestartHistory {
  /** The number of crashes since the last reset. */
  readonly crashes: number;
  /** Readiness since the last crash. */
  readonly healthyMs: number;
  /** The earliest next start, on the monotonic clock. */
  readonly notBefore: number;
}

export const noCrashes: RestartHistory = { crashes: 0, healthyMs: 0, notBefore: 0 };

/** Adds a crash of a process that should not have ended. */
export function afterCrash(history: RestartHistory, policy: RestartPolicy, now: number): RestartHistory {
  const crashes = history.crashes + 1;
  return { crashes, healthyMs: 0, notBefore: now + backoffMs(crashes, policy) };
}

/** Adds `ms` of readiness when a process is no longer ready: call this before {@link afterCrash}. */
export function afterHealthy(history: RestartHistory, policy: RestartPolicy, ms: number): RestartHistory {
  const healthyMs = history.healthyMs + ms;
  return healthyMs >= policy.healthyMs ? noCrashes : { ...history, healthyMs };
}

/** Returns the wait of the start after this many crashes. */
export function backoffMs(crashes: number, policy: RestartPolicy): number {
  const n = crashes - Math.max(policy.quickCrashes, 1) + 1;
  if (n < 1) return 0;
  return Math.min(policy.baseMs * 2 ** Math.min(n - 1, LARGEST_EXPONENT), policy.maxMs);
}

/** Above this exponent doubling changes nothing, and 0 times infinity would be NaN. */
const LARGEST_EXPONENT = 52;
