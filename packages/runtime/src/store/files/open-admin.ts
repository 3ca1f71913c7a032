import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import type { NodeStore } from '../store.ts';
import { migrateOld } from './migrate-old.ts';

/** Opens only the administration of a workspace, for commands that own a stopped swarm for a moment. */
export async function openAdmin(options: DurableStoreOptions): Promise<Pick<NodeStore, 'admin' | 'close'>> {
  const { fs = systemFs, clock = systemClock, processes = systemProcesses, warn = () => undefined } = options;
  await migrateOld({ fs, clock, processes, warn }, options);
  const journal = await durableStore(options);
  await journal.openInbox();
  return { admin: journal, close: () => journal.close() };
}
