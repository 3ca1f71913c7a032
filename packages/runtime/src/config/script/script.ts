/** A script in its two forms: as people write it, and as the scripted model reads it after the check. */
import type { ErrorCode, JsonObject } from '@goondan/types';

/** `Model.spec.options` of `provider: scripted`. */
export interface ScriptedModelOptions {
  /** The rules, tried in order; the first rule that matches answers. */
  script: ScriptedRule[];
  /** The delay before the first token. Default 0. */
  latencyMs?: number;
  /** The speed of streamed text. Default 0: all at once. */
  tokensPerSecond?: number;
}

/** Applies to the newest message that is not a system message. Without `when` and `afterTool` it always matches. */
export interface ScriptedRule {
  /** A regular expression, case-insensitive, on a user's text. Its named groups can be used in `{{…}}`. */
  when?: string;
  /** The name of a tool: the newest message must be its result. */
  afterTool?: string;
  /** Text with `{{group}}`, `{{input}}` and `{{result.…}}`. Together with calls it comes before them. */
  say?: string;
  call?: ScriptedCall;
  calls?: ScriptedCall[];
  fail?: ScriptedFailure;
}

export interface ScriptedCall {
  tool: string;
  /** Strings in it are templates; one that is a single `{{…}}` keeps the type of its value. */
  args?: JsonObject;
}

export interface ScriptedFailure {
  message: string;
  /** Default false. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** The number of failures in one turn; after that the rule is skipped. Without a limit when absent. */
  times?: number;
  /** A code of the catalogue. Default `E_MODEL_FAILED`. */
  code?: ErrorCode;
}

export interface Script {
  readonly rules: readonly Rule[];
  readonly latencyMs: number;
  readonly tokensPerSecond: number;
}

export interface Rule {
  readonly condition: RuleCondition;
  readonly action: RuleAction;
}

export type RuleCondition =
  | { readonly type: 'user-text'; readonly pattern: RegExp }
  | { readonly type: 'tool-result'; readonly toolName: string }
  | { readonly type: 'always' };

export type RuleAction = AnswerAction | FailAction;

export interface AnswerAction {
  readonly type: 'answer';
  /** Absent when the answer consists of calls only. */
  readonly say?: string;
  readonly calls: readonly Required<ScriptedCall>[];
}

export interface FailAction {
  readonly type: 'fail';
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** `Infinity`: always. */
  readonly times: number;
}
