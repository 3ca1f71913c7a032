import type { Clock } from '../ports/clock.ts';
import type { Fs } from '../ports/fs.ts';
import type { Processes } from '../ports/processes.ts';

/** A warning about a repair, or about data that may be missing. It goes to the log, not to the caller. */
export interface StoreWarning {
  readonly path: string;
  readonly message: string;
}

/** Everything that the code for files on disk needs from outside. */
export interface StorePorts {
  readonly fs: Fs;
  readonly clock: Clock;
  readonly processes: Processes;
  /** Must not throw. */
  readonly warn: (warning: StoreWarning) => void;
  /** Called before and after each write to an inbox. Throws `E_FENCED` once another process may own the workspace. */
  readonly fence?: (() => void) | undefined;
  /** Called before damage is reported. Throws if the files may have been changed during the read (`readSettled`). */
  readonly confirm?: ((path: string, problem: string) => Promise<void>) | undefined;
}
