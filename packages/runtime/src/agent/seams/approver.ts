/**
 * The seam between a turn and the people who approve its tool calls. In an agent process, `process/ipc-approver.ts`
 * implements it and forwards requests to the orchestrator.
 *
 * Invariants that every approver guarantees: a request that is made again after a crash gets the answer that was given
 * meanwhile, until `taken` releases that answer. An answer is valid for one request only.
 */
import { type ApprovalOutcome, GoondanError, type JsonObject } from '@goondan/types';

export interface Question {
  /** The position of the request in the turn. Key, turn, call and arguments together identify the request. */
  readonly key: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact arguments that the handler would get. */
  readonly args: JsonObject;
  readonly reason: string;
  readonly expiresInMs: number;
  /**
   * `change`: the question is about a changeset, and `args` has its diff. `budget`: it is about one more portion of a budget.
   * Absent for a question about a tool call.
   */
  readonly kind?: 'change' | 'budget';
}

export interface Approver {
  /**
   * Waits for the answer without a time limit. Rejects with the signal's reason when it aborts. Pass the `id` of the
   * answer to `taken`.
   */
  ask(question: Question, signal: AbortSignal): Promise<ApprovalOutcome & { readonly id: string }>;
  /** Lets the approver delete an answer. Called once the turn has made the answer durable. */
  taken(id: string): void;
}

/** The approver of an agent that runs alone; it rejects every request. */
export const noApprover: Approver = {
  ask: ({ toolName }) =>
    Promise.reject(
      new GoondanError(
        'E_APPROVAL_NOBODY',
        `"${toolName}" needs approval, and this agent runs where no person can be asked.`,
      ),
    ),
  taken: () => undefined,
};
