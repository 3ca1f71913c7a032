/** A request for a person's approval of a tool call, a changeset or a budget, and the answer, as stored on disk. */
import type { ApprovalOutcome, JsonObject } from '@goondan/types';

export interface QuestionRecord {
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  /** The event of the turn that asks for the approval. */
  readonly eventId: string;
  readonly traceId: string;
  /** Identifies the request within its turn. */
  readonly key: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * `change`: the question is about a changeset, and `args` is a `ChangesetToApprove`. `budget`: it is about one more portion
   * of a budget, and `args` is a `BudgetToApprove`. Absent for a question about a tool call.
   */
  readonly kind?: 'change' | 'budget';
  /**
   * The arguments of the tool call for people to read, with secrets masked. The approval is valid for the unmasked
   * arguments, which `digest` identifies.
   */
  readonly args: JsonObject;
  /** SHA-256 of the unmasked arguments in canonical JSON. */
  readonly digest: string;
  readonly reason: string;
  readonly askedAt: string;
  readonly expiresAt: string;
  /** The answer of a person. An expired request has no stored answer: its `expiresAt` is in the past. */
  readonly answer?: ApprovalOutcome & { readonly decision: 'approved' | 'denied'; readonly decidedAt: string };
}
