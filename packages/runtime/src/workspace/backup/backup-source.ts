import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Processes } from '../../ports/processes.ts';

/** The workspace that is copied, and the ports for its files. */
export interface BackupSource {
  readonly fs: BundleFs;
  readonly clock: Clock;
  readonly processes: Processes;
  /** The folder of the workspace. */
  readonly workspace: string;
  /** Waits before the next attempt to copy files that change. `attempt` is the number of the last one, from 1. */
  readonly pause: (attempt: number) => Promise<void>;
}
