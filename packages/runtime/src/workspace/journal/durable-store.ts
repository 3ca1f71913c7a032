/** The journal on the real disk, as `memoryStore` is in memory. */
import type { JournalLocation } from '../layout/instance-paths.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { type Journal, openJournal } from './journal.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import type { StoreWarning } from '../store-ports.ts';

export interface DurableStoreOptions extends JournalLocation {
  readonly limits?: Partial<StoreLimits>;
  /** Receives reports of repairs; standard error when absent. */
  readonly warn?: (warning: StoreWarning) => void;
  /** See `StorePorts`. */
  readonly fence?: () => void;
}

/** @example const store = await durableStore({ stateRoot: '/var/lib/goondan', workspaceId: 'shop' }) */
export function durableStore({
  limits,
  warn = printWarning,
  fence,
  ...location
}: DurableStoreOptions): Promise<Journal> {
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn, fence };
  return openJournal(ports, location, { ...defaultLimits, ...limits });
}

function printWarning({ path, message }: StoreWarning): void {
  process.stderr.write(`${path}: ${message}\n`);
}
