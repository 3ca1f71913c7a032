/**
 * When a process that has nothing to do is let go.
 *
 * Invariants:
 * 1. Never while a turn runs or an event waits.
 * 2. After `hibernateAfterSeconds` without work, counted from the end of the last turn, or from readiness.
 */

import type { IdlePolicy } from '../../config/swarm-policy.ts';

export const defaultIdlePolicy: IdlePolicy = { hibernateAfterSeconds: 300 };

export interface Work {
  readonly isRunning: boolean;
  readonly pending: number;
  /** When there was work last, on the clock that only grows. */
  readonly idleSince: number;
}

export type IdleVerdict =
  { readonly type: 'stay' } | { readonly type: 'lookAgain'; readonly at: number } | { readonly type: 'hibernate' };

export function judgeIdle(policy: IdlePolicy, work: Work, now: number): IdleVerdict {
  const { hibernateAfterSeconds } = policy;
  if (work.isRunning || work.pending > 0 || hibernateAfterSeconds === undefined) return { type: 'stay' };
  const at = work.idleSince + hibernateAfterSeconds * 1_000;
  return now >= at ? { type: 'hibernate' } : { type: 'lookAgain', at };
}
