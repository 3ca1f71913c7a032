/**
 * The seam between a turn and the people who may be asked about its tool calls. In an agent process it is
 * `process/ipc-approver.ts`, with the orchestrator at the other end.
 *
 * Invariants every approver keeps: the same question again, after a crash, is the same question, and finds the answer
 * that was given meanwhile until `taken` says that it is kept elsewhere; an answer counts for one question.
 */
import { type ApprovalOutcome, GoondanError, type JsonObject } from '@goondan/types';

export interface ApprovalQuestion {
  /** Names the place in the turn where it is asked. With the turn, the call and the arguments it is the question. */
  readonly key: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** What the handler would get, exactly. */
  readonly args: JsonObject;
  readonly reason: string;
  readonly expiresInMs: number;
}

export interface ApprovalAnswer extends ApprovalOutcome {
  /** For `taken`. */
  readonly id: string;
}

export interface Approver {
  /** Waits for as long as it takes; rejects with the signal's reason when that aborts. */
  ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** The answer is on disk with the turn: it need not be kept any more. */
  taken(id: string): void;
}

/** For an agent that runs alone. */
export const noApprover: Approver = {
  ask: ({ toolName }) =>
    Promise.reject(
      new GoondanError('E_APPROVAL_NOBODY', `"${toolName}" needs the word of a person, and nobody can be asked.`),
    ),
  taken: () => undefined,
};
