/**
 * When a process that died may be started again.
 *
 * Invariants:
 * 1. From the crash number `quickCrashes` on, a start waits `min(baseMs·2^(n-1), maxMs)`, where n is 1 for that crash
 *    and grows by one with each further one.
 * 2. `notBefore` holds for every start, whatever asked for it: there is no second way to a spawn.
 * 3. The count goes back to 0 after `healthyMs` of readiness without a crash, and by nothing else: not by a good turn,
 *    not by time spent without a process. Readiness adds up over hibernations.
 * 4. The restart budget: in any window of `healthyMs` fewer than `quickCrashes` restarts come without a wait (by 3,
 *    crashes before and after a reset are further apart than that).
 */

import type { RestartPolicy } from '../../config/swarm-policy.ts';

export const defaultRestartPolicy: RestartPolicy = {
  quickCrashes: 5,
  baseMs: 1_000,
  maxMs: 300_000,
  healthyMs: 600_000,
};

export interface RestartHistory {
  /** Since the last reset. */
  readonly crashes: number;
  /** Readiness since the last crash. */
  readonly healthyMs: number;
  /** On the clock that only grows. */
  readonly notBefore: number;
}

export const noCrashes: RestartHistory = { crashes: 0, healthyMs: 0, notBefore: 0 };

/** A process died that should not have. */
export function afterCrash(history: RestartHistory, policy: RestartPolicy, now: number): RestartHistory {
  const crashes = history.crashes + 1;
  return { crashes, healthyMs: 0, notBefore: now + backoffMs(crashes, policy) };
}

/** A process was ready for `ms` and is no longer: add this before {@link afterCrash}. */
export function afterHealthy(history: RestartHistory, policy: RestartPolicy, ms: number): RestartHistory {
  const healthyMs = history.healthyMs + ms;
  return healthyMs >= policy.healthyMs ? noCrashes : { ...history, healthyMs };
}

/** How long the start after this many crashes waits. */
export function backoffMs(crashes: number, policy: RestartPolicy): number {
  const n = crashes - Math.max(policy.quickCrashes, 1) + 1;
  if (n < 1) return 0;
  return Math.min(policy.baseMs * 2 ** Math.min(n - 1, LARGEST_EXPONENT), policy.maxMs);
}

/** Beyond it doubling says nothing any more, and 0 times infinity would be no number. */
const LARGEST_EXPONENT = 52;
