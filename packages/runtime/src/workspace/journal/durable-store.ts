/** The journal on the real disk; `memoryStore` is its counterpart in memory. */
import type { StorePlace } from '../layout/instance-paths.ts';
import { defined } from '../../json/defined.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { writeStandardError } from '../../ports/write-standard-error.ts';
import { type Journal, openJournal } from './journal.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import type { StoreWarning } from '../store-ports.ts';

export interface DurableStoreOptions extends StorePlace {
  readonly limits?: Partial<StoreLimits>;
  /** False if the workspace exists: it is not made again after it was taken away. */
  readonly mayMakeWorkspace?: boolean;
}

/**
 * Opens the journal on the real disk. Without `warn`, warnings go to standard error.
 *
 * @example const store = await durableStore({ stateRoot: '/var/lib/goondan', workspaceId: 'shop' })
 */
export function durableStore({
  limits,
  stateRoot,
  workspaceId,
  mayMakeWorkspace,
  ...ports
}: DurableStoreOptions): Promise<Journal> {
  const warn = ({ path, message }: StoreWarning) => writeStandardError(`${path}: ${message}\n`);
  const system = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn };
  const all = { ...defaultLimits, ...limits };
  return openJournal({ ...system, ...defined(ports) }, { stateRoot, workspaceId }, all, mayMakeWorkspace);
}
