/**
 * Reads the counts and dates of an instance for lists. Takes no lock, and reads only the log since
 * the checkpoint.
 */
import { InboxReader } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { readState } from '../records/read-log.ts';

export interface InstanceSummary {
  /** The number of messages in the committed conversation. */
  readonly messages: number;
  /** The number of accepted events without a committed turn. */
  readonly pending: number;
  readonly deadLetters: number;
  /** The time at which the instance was created. Absent until the instance has opened its first turn. */
  readonly createdAt?: Date;
  /** The time of the last turn or reset that was committed; before the first commit, the same as `createdAt`. */
  readonly updatedAt?: Date;
}

/**
 * Reads the summary; all counts are 0 when the instance does not exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`,
 * `E_STORE_INSTANCE`, …
 */
export async function readSummary(stored: StoredInstance): Promise<InstanceSummary> {
  const log = await readState(stored);
  const pending = await new InboxReader(stored).pending(log?.state.inbox ?? 0);
  if (!log) return { messages: 0, pending: pending.length, deadLetters: 0 };
  const { messages, letters, updatedAt } = log.state;
  const counts = { messages, pending: pending.length, deadLetters: letters.size };
  return { ...counts, createdAt: new Date(log.metadata.createdAt), updatedAt: new Date(updatedAt) };
}
