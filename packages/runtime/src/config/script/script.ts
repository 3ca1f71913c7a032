/** A script in its two forms: as people write it, and as the scripted model reads it once it is checked. */
import type { ErrorCode, JsonObject } from '@goondan/types';

/** `Model.spec.options` of `provider: scripted`. */
export interface ScriptedModelOptions {
  /** Tried in order; the first that matches answers. */
  script: ScriptedRule[];
  /** Before the first token. Default 0. */
  latencyMs?: number;
  /** How fast text is streamed. Default 0: at once. */
  tokensPerSecond?: number;
}

/** Looks at the newest message that is not a system message. Without `when` and `afterTool` it always matches. */
export interface ScriptedRule {
  /** A regular expression, case-insensitive, on a user's text. Its named groups can be used in `{{…}}`. */
  when?: string;
  /** The name of the tool whose result the newest message is. */
  afterTool?: string;
  /** Text with `{{group}}`, `{{input}}` and `{{result.…}}`. Together with calls it comes before them. */
  say?: string;
  call?: ScriptedCall;
  calls?: ScriptedCall[];
  fail?: ScriptedFailure;
}

export interface ScriptedCall {
  tool: string;
  /** Strings in it are templates; one that is a single `{{…}}` keeps the type of what it stands for. */
  args?: JsonObject;
}

export interface ScriptedFailure {
  message: string;
  /** Default false. */
  retryable?: boolean;
  retryAfterMs?: number;
  /** So often in one turn, then the rule is passed over. Always, when absent. */
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
  /** Absent: the answer is calls alone. */
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
