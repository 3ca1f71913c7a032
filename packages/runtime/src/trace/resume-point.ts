/**
 * The point from which a process continues a turn that another one began: the part of the turn's log that is still
 * needed. Its messages are in the archive. JSON.
 */
import type { JsonObject, JsonValue, StepResult, TokenUsage, ToolCallResult } from '@goondan/types';

export interface ResumePoint {
  /** The number of the turn's first message events that counted. */
  readonly events: number;
  /** The id of the message with its input. */
  readonly inputId?: string;
  /** The outcomes of effects that are requested again. */
  readonly effects: Readonly<Record<string, EffectOutcome>>;
  /** Keys of effects that had begun. */
  readonly intents: readonly string[];
  readonly steps: readonly ResumedStep[];
  /** The index of the first step to run. */
  readonly nextStep: number;
  /**
   * Metadata and states as the last step left them, or the turn's layers on their way in. Absent when no step had
   * begun.
   */
  readonly restored?: { readonly metadata: JsonObject; readonly extensionState: JsonObject };
}

/** How an effect ended. Only effects whose error is the outcome (a request that timed out) end with an error. */
export type EffectOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** A step that is done, and does not run again. */
export interface ResumedStep {
  readonly stepId: string;
  readonly stepIndex: number;
  /** `kept`: it failed and is retried, but a tool had started, so its events stay. */
  readonly outcome: 'completed' | 'dropped' | 'kept';
  /** Present when completed. */
  readonly result?: StepResult;
  readonly responseMessageId?: string;
  readonly usage?: TokenUsage;
  /** The results of its tool calls, as the turn counts them; those of a kept step, too. */
  readonly toolResults: readonly ToolCallResult[];
}
