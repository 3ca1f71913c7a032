/**
 * Reads the counts and dates of an instance for lists. Takes no lock, and reads neither the conversation nor the
 * archive.
 */
import type { AgentAddress } from '@goondan/types';
import { InboxReader } from '../inbox/inbox-reader.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { readQueue } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';
import { refuseOtherInstance } from '../records/metadata.ts';
import { readMetadata, refuseLostMetadata } from '../records/read-metadata.ts';

export interface InstanceSummary {
  /** The number of messages in the committed conversation. */
  readonly messages: number;
  /** The number of accepted events without a committed turn. */
  readonly pending: number;
  readonly deadLetters: number;
  /** Absent until the instance opened its first turn. */
  readonly createdAt?: Date;
  /** The time of the last turn or reset that was committed; before the first commit, the same as `createdAt`. */
  readonly updatedAt?: Date;
}

/**
 * Reads the summary; all counts are 0 when the instance does not exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`,
 * `E_STORE_INSTANCE`, …
 */
export async function readSummary(
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
): Promise<InstanceSummary> {
  const metadata = await readMetadata(ports, paths.metadata);
  if (metadata) refuseOtherInstance(paths.metadata, address, metadata);
  else await refuseLostMetadata(ports, paths);
  const pending = await new InboxReader(ports, paths.inbox, address).pending(metadata?.commit.inbox ?? 0);
  const counts = { pending: pending.length, deadLetters: (await readQueue(ports, paths.deadLetters)).length };
  if (!metadata) return { messages: 0, ...counts };
  const { createdAt, updatedAt, commit } = metadata;
  return { messages: commit.messages, ...counts, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
