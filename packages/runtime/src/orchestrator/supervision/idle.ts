/**
 * Decides when an idle process may end.
 *
 * Invariants:
 * 1. A process never ends while a turn runs or an event is queued.
 * 2. A process ends after `hibernateAfterSeconds` without work. The time counts from the end of the last turn, or from
 *    the time the process became ready.
 */

/** The idle time after which a process ends. With `undefined`, an idle process ends only to make room. */
export const defaultIdlePolicy: { readonly hibernateAfterSeconds: number | undefined } = { hibernateAfterSeconds: 300 };

/**
 * Decides whether an instance stays, hibernates now, or is checked again at a later time. `idleSince`: the time at
 * which the last work ended, on the monotonic clock.
 */
export function judgeIdle(
  policy: typeof defaultIdlePolicy,
  work: { readonly isRunning: boolean; readonly pending: number; readonly idleSince: number },
  now: number,
): { readonly type: 'stay' } | { readonly type: 'refetch'; readonly at: number } | { readonly type: 'hibernate' } {
  const { hibernateAfterSeconds } = policy;
  if (work.isRunning || work.pending > 0 || hibernateAfterSeconds === undefined) return { type: 'stay' };
  const at = work.idleSince + hibernateAfterSeconds * 1_000;
  return now >= at ? { type: 'hibernate' } : { type: 'refetch', at };
}
