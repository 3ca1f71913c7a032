import { systemClock } from '../../ports/clock.ts';
import { writeStandardError } from '../../ports/write-standard-error.ts';
import type { StorePlace } from '../../workspace/layout/instance-paths.ts';
import { SwarmLog } from '../../workspace/logs/swarm-log.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';

/** The reports of a command that owns a stopped swarm for a moment, about damaged files. */
export interface RepairReport {
  /** Reports to `warn`, or else to standard error, and to the log of the swarm, which has them when the swarm itself repairs. */
  readonly warn: (warning: StoreWarning) => void;
  close(): Promise<void>;
}

export function repairReport(place: StorePlace): RepairReport {
  const { clock = systemClock, warn = printWarning } = place;
  const log = new SwarmLog({ ...place, warn });
  return {
    warn(warning) {
      warn(warning);
      const message = `${warning.path}: ${warning.message}`;
      log.write({ time: clock.now().toISOString(), level: 'warn', message, event: 'store.repaired' });
    },
    close: () => log.close(),
  };
}

export function printWarning({ path, message }: StoreWarning): void {
  writeStandardError(`${path}: ${message}\n`);
}
