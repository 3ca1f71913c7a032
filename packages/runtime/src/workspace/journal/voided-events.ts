import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

/**
 * Which message records of a turn's log do not count: those of a step that was dropped, and those a crash cut off
 * before the step, or the way into the turn, that made them was recorded.
 */
export function voidedEvents<Logged extends { readonly record: TurnRecord }>(log: readonly Logged[]): Set<Logged> {
  const voided = new Set<Logged>();
  let unrecorded: Logged[] = [];
  for (const logged of log) {
    const { record } = logged;
    if (record.type === 'message') unrecorded.push(logged);
    if (record.type === 'resumed') for (const event of unrecorded) voided.add(event);
    if (record.type === 'step' && record.outcome === 'dropped') {
      for (const event of unrecorded) if (stepOf(event) === record.stepId) voided.add(event);
    }
    if (record.type === 'resumed' || record.type === 'entered' || record.type === 'step') unrecorded = [];
  }
  return voided;
}

function stepOf({ record }: { readonly record: TurnRecord }): string | undefined {
  return record.type === 'message' ? record.stepId : undefined;
}
