/**
 * The place where one instance is kept, as the writer of the instance sees it: files (`instance-files.ts`), or a log that
 * is kept elsewhere (`store/log`). The writer decides what to write, and the place how it is kept.
 */
import type { AgentEvent, Message } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { StoreLimits } from '../limits.ts';
import type { FinishedTurns } from '../records/finished-turns.ts';
import type { Frame, TurnNode } from '../records/frame.ts';
import type { CommittedTurn } from '../records/gather-turns.ts';
import type { LogState } from '../records/log-state.ts';
import type { LoggedRecord } from '../records/logged-record.ts';

export interface InstancePlace {
  /** The name of the place in messages, such as the path of its folder. */
  readonly name: string;
  readonly clock: Clock;
  readonly limits: Pick<StoreLimits, 'outboxEntries' | 'deadLetters'>;
  /** The node of the writer, if several nodes share the place. */
  readonly node?: TurnNode | undefined;
  readonly state: LogState;
  readonly finished: FinishedTurns;
  /** The states by extension name, when the place was loaded. */
  readonly texts: StateTexts;
  readonly log: PlacedLog;
  /** The maximum length of a state in the log, in characters. `prepareStates` gets longer ones. */
  readonly longestState: number;
  /** Returns false once another owner may write. */
  isHeld(): boolean;
  /** Reports a repair, or data that may be missing, of the log or of the whole instance. Must not throw. */
  warn(part: 'log' | 'instance', message: string): void;
  /** Reads the committed messages. **Errors** — `E_STORE_CORRUPT`, and those of reading. */
  readBase(): Promise<readonly Message[]>;
  /** Takes a turn that was committed just now. Absent if the place reads its log again. */
  follow?(turn: CommittedTurn): void;
  /** Writes long states before the commit that refers to them. */
  prepareStates(texts: StateTexts, names: readonly string[]): Promise<void>;
  /** Puts long states in place after their commit. */
  placeStates(names: readonly string[]): Promise<void>;
  /** Whether there is work for `maintain`. */
  readonly isDue: boolean;
  /** Does the work that is due between turns. */
  maintain(texts: StateTexts): Promise<void>;
  /** Does the last work of an owner, before the log is closed. */
  finish(texts: StateTexts): Promise<void>;
}

/** The states by extension name: JSON texts. */
export type StateTexts = ReadonlyMap<string, string>;

export interface PlacedLog {
  /** The number of the last record or commit. */
  readonly last: number;
  /**
   * Appends a frame. If `isDurable` is true, all frames so far are durable when the promise resolves. `asked`: the turn
   * that the frame commits, if a caller waits for its answer.
   */
  append(frame: NewFrame, records: readonly string[], isDurable: boolean, asked?: AskedTurn): Promise<void>;
  close(): Promise<void>;
}

export type NewFrame = Omit<Frame, 'seq' | 'durable' | 'records'>;

export interface AskedTurn {
  readonly event: AgentEvent;
  /** The records of the frame. Those of earlier frames are in the state. */
  readonly records: readonly LoggedRecord[];
}
