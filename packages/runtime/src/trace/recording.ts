/**
 * What is kept of a run of a turn so that it can be run again without asking anybody: what it began with, every effect and
 * how it ended, and its chains with what their layers did and drew. JSON. A turn has one run, and another one for each
 * process that went on with it.
 */
import type { AgentEvent } from '@goondan/types';
import type { ChainRecord } from './turn-trace.ts';
import type { Draw } from './draw-scope.ts';
import type { EffectRecord, ThrownRecord } from './effect-record.ts';
import type { ResumePoint } from './resume-point.ts';

export interface TurnBeginning {
  readonly event: StoredEvent;
  /** Those of the agent, in the order they were loaded. */
  readonly extensions: readonly RecordedExtension[];
}

/** An agent event as JSON. */
export type StoredEvent = Omit<AgentEvent, 'createdAt'> & { readonly createdAt: string };

export interface RecordedExtension {
  readonly name: string;
  /** Of its module, what that imports, and its config without secrets. */
  readonly digest: string;
  /** Names of the tools it had registered when the agent started; absent when it had none. */
  readonly tools?: readonly string[];
  /** What its `register` drew from the clock and from chance. */
  readonly drew?: readonly Draw[];
}

export interface Recording extends TurnBeginning {
  readonly turnId: string;
  /** This run. */
  readonly startedAt: string;
  /** What it went on from; absent of one that began the turn. */
  readonly resumePoint?: ResumePoint;
  /** Of one that was halted: as it was then. Chains that ran are unfinished, and their layers have stages. */
  readonly chain: ChainRecord;
  /** Of one that was halted: those that had been asked for. */
  readonly effects: readonly EffectRecord[];
  /** Absent of a run that came to its end. */
  readonly halt?: RecordedHalt;
}

/**
 * How a run ended that did not come to its end. `cancelled`: or out of time. `left`: its process ended while it waited for
 * a person. `crashed`: nobody knows where; what is recorded is what it did at least.
 */
export interface RecordedHalt {
  readonly how: 'cancelled' | 'left' | 'crashed';
  /** Of one that was cancelled. */
  readonly error?: ThrownRecord;
  /** Chains had begun: the turn's own is one that ran. */
  readonly hasBegun: boolean;
  /** Keys of the effects that were asked for and had not ended, as far as that is known. */
  readonly asked: readonly string[];
  /** The innermost chain that ran, from the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** The layer there whose code ran; absent when none did. */
  readonly layer?: { readonly extension: string; readonly name: string };
}
