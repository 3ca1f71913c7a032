import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

/**
 * Which message records of a turn's log do not count: those that a crash, or the end of a step that was dropped, found
 * before any record had sealed them. The input is sealed as it comes. The turn loop reads its log by the same rule
 * (`turn-log.ts`; a test keeps the two together).
 */
export function voidedEvents<Logged extends { readonly record: TurnRecord }>(log: readonly Logged[]): Set<Logged> {
  const voided = new Set<Logged>();
  let unsealed: Logged[] = [];
  for (const logged of log) {
    const { record } = logged;
    if (record.type === 'message') unsealed.push(logged);
    const isVoid = record.type === 'resumed' || (record.type === 'step' && record.outcome === 'dropped');
    if (isVoid) for (const event of unsealed) voided.add(event);
    if (isVoid || seals(record)) unsealed = [];
  }
  return voided;
}

function seals(record: TurnRecord): boolean {
  if (record.type === 'message') return record.author.kind === 'input' && record.event.type === 'append';
  return record.type === 'entered' || record.type === 'step';
}
