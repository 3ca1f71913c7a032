/**
 * The point from which a process continues a turn that another process began: the part of the turn's log that is still
 * needed, as JSON. The turn's messages are in the archive.
 */
import type { JsonObject, JsonValue, StepResult, ToolCallResult } from '@goondan/types';
import type { TurnUsage } from '../ports/turn-outcome.ts';

export interface ResumePoint {
  /**
   * The number of the turn's message events that stay in effect. They are the first events of the turn; later ones were
   * dropped.
   */
  readonly events: number;
  /** The id of the turn's input message. */
  readonly inputId?: string;
  /**
   * The messages of inputs that the turn has taken from other events, each with the index of the step that followed.
   * Absent when there are none.
   */
  readonly taken?: readonly { readonly messageId: string; readonly eventId: string; readonly beforeStep: number }[];
  /** The outcomes of effects that will be requested again, by key. */
  readonly effects: Readonly<Record<string, EffectOutcome>>;
  /** Keys of effects that had begun. */
  readonly intents: readonly string[];
  readonly steps: readonly ResumedStep[];
  /** A digest of the plan whose turn layers ran first. Absent when the plan has none. */
  readonly plan?: string;
  /** The last other node that ran the turn. Absent when only one did. */
  readonly movedFrom?: string;
  /** The tokens that the turn has used so far. */
  readonly usage: TurnUsage;
  /** The index of the first step to run. */
  readonly nextStep: number;
  /**
   * Metadata and extension states after the last step, or, before the first step, after the turn layers' calls of
   * `next()`. Absent when no step had begun.
   */
  readonly restored?: { readonly metadata: JsonObject; readonly extensionState: JsonObject };
}

/**
 * How an effect ended. An error is recorded only if it is the outcome of the effect, such as a request that timed out.
 */
export type EffectOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** A step that has ended and does not run again. */
export interface ResumedStep {
  readonly stepId: string;
  readonly stepIndex: number;
  /**
   * `dropped`: the step failed, and its events were dropped, except those that layers emitted after the failure had
   * reached them. `kept`: the step failed after a tool had started, so its events stay.
   */
  readonly outcome: 'completed' | 'dropped' | 'kept';
  /** Present when the step completed. Its tool calls are in the message of the reply, its results in `toolResults`. */
  readonly result?: Omit<StepResult, 'toolCalls' | 'toolResults'>;
  readonly responseMessageId?: string;
  /** The problems of the step's answer, which does not fit the demanded schema. Absent when there are none. */
  readonly problems?: readonly string[];
  /** The results of the step's tool calls; also those of a kept step. */
  readonly toolResults: readonly ToolCallResult[];
  /** A digest of the plan that the step ran with. Absent when the plan has none. */
  readonly plan?: string;
  /** A digest of the plan whose turn layers ran around the step; absent when it is the plan of the step. */
  readonly turnPlan?: string;
}
