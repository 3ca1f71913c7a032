import { existsSync } from 'node:fs';
import { durableStore, type DurableStoreOptions, type Journal } from '@goondan/runtime/history';
import { workspaceFolder } from '@goondan/runtime/internal';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';

/** `warn` is called with reports of damaged files; without `warn`, the reports go to standard error. */
export type JournalPlace = SwarmPlace & Pick<DurableStoreOptions, 'warn'>;

/**
 * Reads conversations without a lock. If the workspace does not exist, it is not created, and the result is `nothing`.
 */
export async function withJournal<Value>(
  place: JournalPlace,
  nothing: Value,
  read: (journal: Journal) => Promise<Value>,
): Promise<Value> {
  if (!existsSync(workspaceFolder(place.stateRoot, place.workspaceId))) return nothing;
  const journal = await durableStore(place);
  try {
    return await read(journal);
  } finally {
    await journal.close();
  }
}
