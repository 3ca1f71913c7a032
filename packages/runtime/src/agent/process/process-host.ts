/** The process an agent runs in, as a parameter: a test has none of its own to move, signal and end. */
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';

export interface ProcessHost {
  readonly clock: Clock;
  /** Makes it the working folder. Throws what the system says. */
  moveTo(folder: string): void;
  /** Loads what a turn will need. */
  warmUp(): Promise<void>;
  openJournal(location: JournalLocation, warn: (warning: StoreWarning) => void): Promise<Journal>;
  /** From now on bundle code that imports our packages gets the copy this process itself runs. */
  answerOwnPackages(): void;
  /** From now on what layers draw from the clock and from chance is theirs. Once, before bundle code is imported. */
  watchDraws(): unknown;
  /** Somebody asks this process to end. */
  onTerminate(listener: () => void): void;
  /** Something was thrown and caught by nobody. */
  onUncaught(listener: (thrown: unknown) => void): void;
  /** Does not return, but in a test. */
  exit(code: number): void;
}
