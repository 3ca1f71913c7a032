import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import type { NodeStore } from '../store.ts';

/** Opens only the administration of a workspace, for commands that own a stopped swarm for a moment. */
export async function openAdmin(options: DurableStoreOptions): Promise<Pick<NodeStore, 'admin' | 'close'>> {
  const journal = await durableStore(options);
  return { admin: journal, close: () => journal.close() };
}
