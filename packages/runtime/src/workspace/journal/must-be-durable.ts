import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';

/**
 * Decides whether records must survive a power loss before `append` resolves. An intent must, because its effect happens
 * next and only the intent shows that it may have happened; an intent whose outcome comes with it is over. The answer of
 * a person must, because it is then removed from the questions. All other records are results: until the next durable
 * write, a power loss may take them back, and a resumed turn makes them again.
 */
export function mustBeDurable(records: readonly TurnRecord[]): boolean {
  return records.some((record) => {
    if (record.type === 'intent') return !isRecorded(records, record.key);
    return record.type === 'effect' && record.kind === 'approval';
  });
}

function isRecorded(records: readonly TurnRecord[], key: string): boolean {
  return records.some((record) => record.type === 'effect' && record.key === key);
}
