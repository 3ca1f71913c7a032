import type { StoredInstance } from '../layout/instance-paths.ts';
import { readState } from '../records/read-log.ts';

/**
 * Returns true if an instance has a turn to finish or answers to deliver. Reads without a lock, and not the inbox. The
 * cost depends on the log since the checkpoint, not on the history.
 */
export async function hasUnfinished(stored: StoredInstance): Promise<boolean> {
  const state = (await readState(stored))?.state;
  return state !== undefined && (state.open.turnId !== undefined || state.answers.size > 0);
}
