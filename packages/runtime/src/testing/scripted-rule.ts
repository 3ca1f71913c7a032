/** A rule of a script in the form in which people write it. */
import type { ErrorCode, JsonObject } from '@goondan/types';

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
