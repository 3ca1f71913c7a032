import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

/**
 * Finds the message records of a turn's log that do not count, because the process crashed, or their step was dropped,
 * before a later record sealed them. The survivors of a dropped step count. The input of a turn needs no later record to
 * seal it, unless it comes back after a `truncate`. The turn loop reads its log by the same rule (`turn-log.ts`; a test
 * compares the two).
 */
export function voidedEvents<Logged extends { readonly record: TurnRecord }>(log: readonly Logged[]): Set<Logged> {
  const voided = new Set<Logged>();
  let unsealed: Logged[] = [];
  for (const logged of log) {
    const { record } = logged;
    if (record.type === 'message') unsealed.push(logged);
    const isVoid = record.type === 'resumed' || (record.type === 'step' && record.outcome === 'dropped');
    const survivors = record.type === 'step' ? (record.survivors ?? []).map((position) => unsealed.at(-position)) : [];
    if (isVoid) for (const event of unsealed) if (!survivors.includes(event)) voided.add(event);
    if (isVoid || seals(record)) unsealed = [];
  }
  return voided;
}

function seals(record: TurnRecord): boolean {
  if (record.type === 'message') return isFirstInput(record);
  return record.type === 'entered' || record.type === 'step';
}

function isFirstInput({ author, event }: Extract<TurnRecord, { type: 'message' }>): boolean {
  return event.type === 'append' && author.kind === 'input' && author.again !== true;
}
