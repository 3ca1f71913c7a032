/**
 * What a process found of a turn that another one had begun, and goes on from: as much of the turn's log as is still
 * looked at. Its messages are in the archive. JSON.
 */
import type { JsonObject, JsonValue, StepResult, TokenUsage, ToolCallResult } from '@goondan/types';

export interface ResumePoint {
  /** How many of the turn's message events counted: its first ones. */
  readonly events: number;
  /** The id of the message with its input. */
  readonly inputId?: string;
  /** How effects had ended that are asked for again. */
  readonly effects: Readonly<Record<string, ResumedOutcome>>;
  /** Keys of effects that had begun. */
  readonly intents: readonly string[];
  readonly steps: readonly ResumedStep[];
  /** The index of the first step that is run. */
  readonly nextStep: number;
  /** As the last step left them, or the turn's layers on their way in. Absent: it had not got into its steps. */
  readonly restored?: { readonly metadata: JsonObject; readonly extensionState: JsonObject };
}

export type ResumedOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** A step that is over, and not run again. */
export interface ResumedStep {
  readonly stepId: string;
  readonly stepIndex: number;
  /** `kept`: it failed and is retried, but a tool had started, so its events stay. */
  readonly outcome: 'completed' | 'dropped' | 'kept';
  /** Present when completed. */
  readonly result?: StepResult;
  readonly responseMessageId?: string;
  readonly usage?: TokenUsage;
  /** What its tool calls gave, as the turn counts them; a kept step's too. */
  readonly toolResults: readonly ToolCallResult[];
}
