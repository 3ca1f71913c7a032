import type { TakenInput } from '../../agent/conversation/conversation-store.ts';
import type { LoggedRecord } from './logged-record.ts';

/** Returns the inputs of other events that a turn has taken, in order. An input counts as soon as it is recorded. */
export function takenBy(log: readonly LoggedRecord[]): readonly TakenInput[] {
  return log.flatMap(({ record }) => (record.type === 'message' && record.took ? [record.took] : []));
}
