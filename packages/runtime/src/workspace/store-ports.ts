import type { Clock } from '../ports/clock.ts';
import type { Fs } from '../ports/fs.ts';
import type { Processes } from '../ports/processes.ts';

/** Something was repaired, or may be missing: for the log, not for the caller. */
export interface StoreWarning {
  readonly path: string;
  readonly message: string;
}

/** Everything the files on disk need from outside. */
export interface StorePorts {
  readonly fs: Fs;
  readonly clock: Clock;
  readonly processes: Processes;
  warn(warning: StoreWarning): void;
  /** Called around each write to an inbox. Throws `E_FENCED` once the workspace is not this process's any more. */
  readonly fence?: (() => void) | undefined;
}
