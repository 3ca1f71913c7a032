/** A rule of a script, in the form in which people write it. */
import type { ErrorCode, JsonObject, ModelFailure } from '@goondan/types';

/**
 * A rule of a scripted model. It is matched against the newest message that is not a system message. Without `when` and
 * `afterTool`, it always matches.
 */
export interface ScriptedRule {
  /**
   * A case-insensitive regular expression, matched against a user's text. Templates can use its named groups in
   * `{{…}}`.
   */
  when?: string;
  /** The name of a tool. The rule matches if the newest message is a result of this tool. */
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
  /** How often the rule fails in one turn; after that it is skipped. When absent, the rule always fails. */
  times?: number;
  /** The kind of failure, as a provider's model reports it. */
  failure?: ModelFailure;
  /** A code of the catalogue. Default `E_MODEL_FAILED`. */
  code?: ErrorCode;
}
