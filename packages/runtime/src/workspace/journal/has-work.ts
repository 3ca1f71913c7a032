import { InboxReader } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { readState } from '../records/read-log.ts';

/**
 * Returns true if an instance must be woken, because it has input to handle, a turn to finish, or answers to deliver.
 * Reads without a lock. The cost depends on the log since the checkpoint, not on the history.
 */
export async function hasWork(stored: StoredInstance): Promise<boolean> {
  const state = (await readState(stored))?.state;
  if (state && (state.open.turnId !== undefined || state.answers.size > 0)) return true;
  return (await new InboxReader(stored).pending(state?.inbox ?? 0)).length > 0;
}
