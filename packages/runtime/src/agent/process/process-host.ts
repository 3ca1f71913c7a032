/** The process an agent runs in, as a port: a test must not change the folder of its own process, or end it. */
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';

export interface ProcessHost {
  readonly clock: Clock;
  /** Changes the working folder. Throws the system's error. */
  moveTo(folder: string): void;
  /** Loads modules that a turn will need. */
  warmUp(): Promise<void>;
  openJournal(location: JournalLocation, warn: (warning: StoreWarning) => void): Promise<Journal>;
  /** Makes bundle code that imports our packages get the copy that this process runs. */
  answerOwnPackages(): void;
  /**
   * Attributes draws from the clock and from random numbers to the layer that takes them. Called once, before bundle
   * code is imported.
   */
  watchDraws(): unknown;
  /** Calls the listener when the process is asked to end. */
  onTerminate(listener: () => void): void;
  /** Calls the listener for an error that was not caught. */
  onUncaught(listener: (thrown: unknown) => void): void;
  /** Ends the process; returns only in a test. */
  exit(code: number): void;
}
