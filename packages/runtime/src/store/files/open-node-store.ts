import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { ApprovalFile } from '../../workspace/approvals/approval-file.ts';
import { durableStore, type DurableStoreOptions } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { Placement } from '../placement.ts';
import type { NodeStore } from '../store.ts';
import { directoryOf, inboxOf } from './journal-seams.ts';
import { migrateOld } from './migrate-old.ts';

export interface NodeStoreOptions extends Omit<DurableStoreOptions, 'fence' | 'warn'> {
  readonly warn: (warning: StoreWarning) => void;
}

/**
 * Opens the files of a workspace for the node that owns it. `close` leaves the placement as it is. **Errors** — those of
 * the disk.
 */
export async function openNodeStore(
  { fs = systemFs, clock = systemClock, processes = systemProcesses, ...options }: NodeStoreOptions,
  placement: Placement,
): Promise<NodeStore> {
  const ports = { fs, clock, processes, warn: options.warn };
  await migrateOld(ports, options);
  const journal = await durableStore({ ...options, ...ports, fence: () => placement.check() });
  await journal.openInbox();
  const approvals = await ApprovalFile.open(ports, options);
  return nodeStoreOf(options, journal, approvals, placement);
}

/** Returns the seams of a node over open files. `close` closes these files. */
export function nodeStoreOf(
  location: JournalLocation,
  journal: Journal,
  approvals: ApprovalFile,
  placement: Placement,
): NodeStore {
  return {
    inbox: inboxOf(journal),
    placement,
    approvals,
    deadLetters: journal.deadLetters,
    admin: journal,
    history: journal,
    directory: directoryOf(location, async () => journal),
    async close() {
      await approvals.close();
      await journal.close();
    },
  };
}
