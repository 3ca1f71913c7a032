/**
 * Reads the counts and dates of an instance for lists. Takes no lock, and reads at most the log since the checkpoint.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { readSettled } from '../lines/read-settled.ts';
import { countsOf, currentEntry, type InstanceCounts, type InstanceIndex } from '../records/instance-index.ts';
import type { HandledNumbers } from '../records/log-state.ts';
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
 * Reads the summary; all counts are 0 when the instance does not exist. `pendingAfter` lists the events that are
 * not handled. If the index has an entry for the files as they are, only the inbox is read. **Errors** — `E_STORE_CORRUPT`,
 * `E_STORE_READ`, `E_STORE_INSTANCE`, …
 */
export function readSummary(
  stored: StoredInstance,
  pendingAfter: (handled: HandledNumbers, settled: StoredInstance) => Promise<readonly unknown[]>,
  index: InstanceIndex = new Map(),
): Promise<InstanceSummary> {
  return readSettled(stored, async (settled) => {
    const counts = (await currentEntry(settled, index)) ?? (await readCounts(settled));
    const handled = { handled: counts?.inbox ?? 0, taken: counts?.taken ?? [] };
    const { length: pending } = await pendingAfter(handled, settled);
    if (!counts) return { messages: 0, pending, deadLetters: 0 };
    const { messages, deadLetters, createdAt, updatedAt } = counts;
    return { messages, pending, deadLetters, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  });
}

async function readCounts(stored: StoredInstance): Promise<InstanceCounts | undefined> {
  const log = await readState(stored);
  return log && countsOf(log.state, log.metadata.createdAt);
}
