/** A script in its two forms: as people write it, and as the scripted model uses it after the check. */
import type { ErrorCode, JsonObject } from '@goondan/types';

/** `Model.spec.options` of `provider: scripted`. */
export interface ScriptedModelOptions {
  /** The rules, tried in order; the first rule that matches answers. */
  script: ScriptedRule[];
  /** The delay before the first token, in milliseconds. Default 0. */
  latencyMs?: number;
  /** The speed of streamed text. Default 0: the whole text at once. */
  tokensPerSecond?: number;
}

/**
 * A rule is matched against the newest message that is not a system message. Without `when` and `afterTool`, it always
 * matches.
 */
export interface ScriptedRule {
  /** A case-insensitive regular expression, matched against a user's text. Its named groups can be used in `{{…}}`. */
  when?: string;
  /** The name of a tool: the newest message must be its result. */
  afterTool?: string;
  /**
   * A text with `{{group}}`, `{{input}}` and `{{result.…}}`. If the rule also has calls, the text comes before them.
   */
  say?: string;
  call?: ScriptedCall;
  calls?: ScriptedCall[];
  fail?: ScriptedFailure;
}

export interface ScriptedCall {
  tool: string;
  /** Strings in the arguments are templates. A string that is a single `{{…}}` keeps the type of the inserted value. */
  args?: JsonObject;
}

export interface ScriptedFailure {
  message: string;
  /** If true, the error is retryable. Default false. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** The number of failures in one turn; after that the rule is skipped. When absent, it always fails. */
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
  readonly condition:
    | { readonly type: 'user-text'; readonly pattern: RegExp }
    | { readonly type: 'tool-result'; readonly toolName: string }
    | { readonly type: 'always' };
  readonly action: AnswerAction | FailAction;
}

export interface AnswerAction {
  readonly type: 'answer';
  /** The text; absent when the answer consists of calls only. */
  readonly say?: string;
  readonly calls: readonly Required<ScriptedCall>[];
}

export interface FailAction {
  readonly type: 'fail';
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** The number of failures; `Infinity` means that the rule always fails. */
  readonly times: number;
}
