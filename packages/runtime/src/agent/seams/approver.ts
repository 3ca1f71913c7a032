/**
 * The seam between a turn and the people who approve its tool calls. In an agent process it is
 * `process/ipc-approver.ts`, with the orchestrator at the other end.
 *
 * Invariants every approver keeps: the same question, asked again after a crash, gets the answer that was given
 * meanwhile, until `taken` is called; an answer is for one question.
 */
import { type ApprovalOutcome, GoondanError, type JsonObject } from '@goondan/types';

export interface ApprovalQuestion {
  /** The place in the turn where it is asked. Key, turn, call and arguments identify the question. */
  readonly key: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact arguments that the handler would get. */
  readonly args: JsonObject;
  readonly reason: string;
  readonly expiresInMs: number;
}

export interface ApprovalAnswer extends ApprovalOutcome {
  /** The id to pass to `taken`. */
  readonly id: string;
}

export interface Approver {
  /** Waits for the answer without a limit; rejects with the signal's reason when it aborts. */
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Releases an answer that is on disk with the turn. */
  taken(id: string): void;
}

/** The approver of an agent that runs alone: it refuses every question. */
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
