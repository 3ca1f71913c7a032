/** A script in the form in which the scripted model uses it, after the check. */
import type { ErrorCode, JsonObject, ModelFailure } from '@goondan/types';

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
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
}

export interface FailAction {
  readonly type: 'fail';
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly failure?: ModelFailure;
  /** The number of failures; `Infinity` means that the rule always fails. */
  readonly times: number;
}
