/**
 * Reads the counts and dates of an instance for lists. Takes no lock, and reads neither the conversation nor the
 * archive.
 */
import { InboxReader } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { readQueue } from '../lines/durable-queue.ts';
import { readOwnMetadata } from '../records/read-metadata.ts';

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
  const metadata = await readOwnMetadata(stored);
  const pending = await new InboxReader(stored).pending(metadata?.commit.inbox ?? 0);
  const deadLetters = await readQueue(stored, stored.paths.deadLetters);
  const counts = { pending: pending.length, deadLetters: deadLetters.length };
  if (!metadata) return { messages: 0, ...counts };
  const { createdAt, updatedAt, commit } = metadata;
  return { messages: commit.messages, ...counts, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
