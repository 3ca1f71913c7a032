/** Lets a person approve tool calls. Bundle code cannot answer an approval request. */

import type { JsonObject } from './json.ts';

export interface ApprovalRequest {
  /** The reason for asking, shown to the person. At most 1000 characters. */
  reason: string;
  /**
   * The time after which the request, or an answer that was not used yet, expires. At most 30 days; 24 hours when
   * absent.
   */
  expiresInMs?: number;
}

export interface ApprovalOutcome {
  readonly decision: 'approved' | 'denied' | 'expired';
  /** The person who decided, as identified by their channel. */
  readonly by?: string;
  /** The door through which the answer came, such as `chat` or `studio`. */
  readonly via?: string;
  /** The comment of the person who decided. */
  readonly note?: string;
  /**
   * The arguments as the person edited them. The call already has them: `ctx.args` of this layer and of all inner layers.
   */
  readonly args?: JsonObject;
}

/**
 * Approval of a tool call with its current arguments, for `toolCall` layers.
 *
 * Both functions bind the call to its present arguments: if a layer changes them later, the handler does not run, and
 * the result is `E_APPROVAL_CHANGED`.
 */
export interface ApprovalApi {
  /**
   * Asks a person and waits for the answer, also across restarts. All deadlines of the turn are paused meanwhile.
   *
   * **Rules** — the question is an effect: a resumed turn waits for the same question, or gets its answer. The answer
   * counts only for this call with these arguments. Without approval the handler does not run, even if the layer calls
   * `next()`.
   * **Errors** — these are thrown before the person is asked: `E_APPROVAL_REQUEST`, `E_APPROVALS_FULL`,
   * `E_APPROVAL_NOBODY`, and every error of a call that cannot run, such as `E_TOOL_UNKNOWN`. When the turn is
   * cancelled: the reason of the cancel.
   *
   * @example const { decision } = await ctx.approval.ask({ reason: 'It writes outside of the working folder.' })
   */
  ask(request: ApprovalRequest): Promise<ApprovalOutcome>;
  /** Binds the call to its arguments without asking, for a layer that has checked the arguments itself. */
  bind(): void;
}
