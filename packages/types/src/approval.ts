/** Asking a person before a tool call goes on. Only a person's channel can answer; no code of a bundle can. */

export interface ApprovalRequest {
  /** Why the call needs a person's word, for that person to read. At most 1000 characters. */
  reason: string;
  /** Unanswered, or answered and not taken up by then, it has expired. At most 30 days; 24 hours when absent. */
  expiresInMs?: number;
}

export interface ApprovalOutcome {
  readonly decision: 'approved' | 'denied' | 'expired';
  /** Who decided, as their channel says. */
  readonly by?: string;
  /** What they said about it. */
  readonly note?: string;
}

/**
 * What a `toolCall` layer can do about the arguments of its call.
 *
 * Both bind the call to the arguments as they are now: when a layer changes them afterwards, the handler does not run,
 * and the result is `E_APPROVAL_CHANGED`.
 */
export interface ApprovalApi {
  /**
   * Asks a person, and waits: for as long as it takes, through restarts, with every deadline of the turn stopped.
   *
   * **Rules** — an effect: a resumed turn asks the same question, or gets its answer. It counts for this one call with
   * these arguments. Unless it is approved the handler does not run, even when the layer calls `next()`.
   * **Errors** — before anybody is asked: those of a call that could not run (`E_TOOL_UNKNOWN`, `E_TOOL_ARGUMENTS`, …),
   * `E_APPROVAL_REQUEST`, `E_APPROVALS_FULL`, `E_APPROVAL_NOBODY`; and the turn's own reason when it is cancelled.
   *
   * @example const { decision } = await ctx.approval.ask({ reason: 'It writes outside of the working folder.' })
   */
  ask(request: ApprovalRequest): Promise<ApprovalOutcome>;
  /** Binds without asking: for a layer that has judged the arguments itself. */
  bind(): void;
}
