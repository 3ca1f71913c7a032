/**
 * The recording of a run of a turn, enough to run it again without calls to the outside: its start, every effect with
 * its outcome, and its chains with the changes and draws of their layers. JSON. A turn has one run, and one more for
 * each process that continued it.
 */
import type { AgentEvent } from '@goondan/types';
import type { Stored } from '../messages/message-text.ts';
import type { ChainRecord } from './turn-trace.ts';
import type { Draw } from './draw-scope.ts';
import type { EffectRecord, ThrownRecord } from './effect-record.ts';
import type { ResumePoint } from './resume-point.ts';

export interface RecordedExtension {
  readonly name: string;
  /** A digest of its module, the module's imports, and its config without secrets. */
  readonly digest: string;
  /** Names of the tools it had registered when the agent started; absent when there were none. */
  readonly tools?: readonly string[];
  /** The draws of its `register` from the clock and from random numbers. */
  readonly drew?: readonly Draw[];
}

export interface Recording {
  readonly turnId: string;
  readonly event: Stored<AgentEvent>;
  /** The extensions of the agent, in the order they were loaded. */
  readonly extensions: readonly RecordedExtension[];
  /** The start of this run. */
  readonly startedAt: string;
  /** The point from which it continued; absent for the run that began the turn. */
  readonly resumePoint?: ResumePoint;
  /** For a halted run, its state at the halt: running chains are unfinished, and their layers have stages. */
  readonly chain: ChainRecord;
  /** For a halted run, the effects that had begun. */
  readonly effects: readonly EffectRecord[];
  /** Absent for a completed run. */
  readonly halt?: RecordedHalt;
}

/**
 * How a run stopped early. `cancelled`: by a cancel or a deadline. `left`: its process ended while it waited for a
 * person. `crashed`: at an unknown place; the recording shows the least it did.
 */
export interface RecordedHalt {
  readonly how: 'cancelled' | 'left' | 'crashed';
  /** The reason of a cancel. */
  readonly error?: ThrownRecord;
  /** True when the turn's own chain had begun. */
  readonly hasBegun: boolean;
  /** Keys of the effects that had begun and not ended, as far as that is known. */
  readonly asked: readonly string[];
  /** The innermost running chain, from the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** The layer of that chain whose code ran; absent when none did. */
  readonly layer?: { readonly extension: string; readonly name: string };
}
