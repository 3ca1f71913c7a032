/**
 * The recording of one run of a turn, sufficient to replay the run without access to the outside: its start, every
 * effect with its outcome, and its chains with the changes and draws of their layers. The recording is JSON. A turn has
 * one run, and one more for each process that continued it.
 */
import type { AgentEvent } from '@goondan/types';
import type { Stored } from '../messages/message-text.ts';
import type { ChainRecord } from './turn-trace.ts';
import type { Draw } from './draw-scope.ts';
import type { EffectRecord, ThrownRecord } from './effect-record.ts';
import type { ResumePoint } from './resume-point.ts';

export interface RecordedExtension {
  readonly name: string;
  /** A digest of the extension's module, the module's imports, and its config without secrets. */
  readonly digest: string;
  /** Names of the tools that the extension had registered when the agent started; absent when there were none. */
  readonly tools?: readonly string[];
  /** The values that `register` of the extension drew from the clock and from random numbers. */
  readonly drew?: readonly Draw[];
}

export interface Recording {
  readonly turnId: string;
  readonly event: Stored<AgentEvent>;
  /** The extensions of the agent, in the order they were loaded. */
  readonly extensions: readonly RecordedExtension[];
  /** The time at which this run started. */
  readonly startedAt: string;
  /** The point from which the run continued; absent for the run that began the turn. */
  readonly resumePoint?: ResumePoint;
  /**
   * The turn chain. For a halted run, it is the state at the halt: running chains are unfinished, and their layers have
   * stages.
   */
  readonly chain: ChainRecord;
  /** The effects of the run. For a halted run, only the effects that had begun before the halt. */
  readonly effects: readonly EffectRecord[];
  /** Absent for a completed run. */
  readonly halt?: RecordedHalt;
}

/**
 * How a run stopped early. `cancelled`: a cancel or a deadline stopped it. `left`: its process ended while the turn
 * waited for a person. `crashed`: it stopped at an unknown point, after everything that the recording shows.
 */
export interface RecordedHalt {
  readonly how: 'cancelled' | 'left' | 'crashed';
  /** The reason of a cancel. */
  readonly error?: ThrownRecord;
  /** True when the turn chain had begun. */
  readonly hasBegun: boolean;
  /** Keys of the effects that had begun but not ended, as far as this is known. */
  readonly asked: readonly string[];
  /** The path to the innermost running chain, from the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** The layer of that chain whose code was running; absent when no layer's code was. */
  readonly layer?: { readonly extension: string; readonly name: string };
}
