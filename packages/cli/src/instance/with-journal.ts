import { existsSync } from 'node:fs';
import { durableStore, type DurableStoreOptions, type Journal } from '@goondan/runtime/history';
import { workspaceFolder } from '@goondan/runtime/internal';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';

/** `warn` hears what is damaged; standard error when absent. */
export type JournalPlace = SwarmPlace & Pick<DurableStoreOptions, 'warn'>;

/** Reads conversations. That takes no lock, and a workspace that is not there is not made: it has `nothing`. */
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
