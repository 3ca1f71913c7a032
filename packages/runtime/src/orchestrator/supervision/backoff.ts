/**
 * Decides when a process that died may be started again.
 *
 * Invariants:
 * 1. From crash number `quickCrashes` on, a start waits `min(baseMs·2^(n-1), maxMs)`, where n is 1 for that crash and
 *    increases by one with each further crash.
 * 2. `notBefore` applies to every start, whatever its cause: there is no other way to start a process.
 * 3. The count is reset to 0 only after the process was ready for `healthyMs` in total without a crash. Neither a
 *    successful turn nor time without a process resets it. Time in readiness adds up over hibernations.
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
  /** The total time in readiness since the last crash. */
  readonly healthyMs: number;
  /** The earliest time of the next start, on the monotonic clock. */
  readonly notBefore: number;
}

export const noCrashes: RestartHistory = { crashes: 0, healthyMs: 0, notBefore: 0 };

/** Adds a crash: an exit that was not requested. */
export function afterCrash(history: RestartHistory, policy: RestartPolicy, now: number): RestartHistory {
  const crashes = history.crashes + 1;
  return { crashes, healthyMs: 0, notBefore: now + backoffMs(crashes, policy) };
}

/** Adds `ms` of readiness when a process stops being ready; call this before {@link afterCrash}. */
export function afterHealthy(history: RestartHistory, policy: RestartPolicy, ms: number): RestartHistory {
  const healthyMs = history.healthyMs + ms;
  return healthyMs >= policy.healthyMs ? noCrashes : { ...history, healthyMs };
}

/** Returns how long a start has to wait after this many crashes. */
export function backoffMs(crashes: number, policy: RestartPolicy): number {
  const n = crashes - Math.max(policy.quickCrashes, 1) + 1;
  if (n < 1) return 0;
  return Math.min(policy.baseMs * 2 ** Math.min(n - 1, LARGEST_EXPONENT), policy.maxMs);
}

/**
 * The largest exponent that is used. Further doubling would have no effect, and with a base of 0 it would end in 0
 * times infinity, which is NaN.
 */
const LARGEST_EXPONENT = 52;
