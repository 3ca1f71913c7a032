/**
 * The seam between a turn and the people who answer its questions. In an agent process, `process/ipc-approver.ts`
 * implements it and forwards requests to the orchestrator.
 *
 * Invariants that every approver guarantees: a request that is made again after a crash gets the answer that was given
 * meanwhile, until `taken` releases that answer. An answer is valid for one request only.
 */
import { GoondanError, type JsonObject } from '@goondan/types';
import type { Asking, QuestionKind, QuestionOutcome } from '../../questions/question-record.ts';

export interface Question {
  /** The position of the request in the turn. Key, turn, call and arguments together identify the request. */
  readonly key: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact arguments that the handler would get, or another subject; empty for a form and a page. */
  readonly args: JsonObject;
  readonly reason: string;
  readonly expiresInMs: number;
  readonly kind: QuestionKind;
  readonly askedBy?: Asking;
  /** The schema of the tool's arguments, or the form. */
  readonly schema?: JsonObject;
  readonly url?: string;
  readonly fingerprint?: string;
}

export interface Approver {
  /**
   * Waits for the answer without a time limit. Rejects with the signal's reason when it aborts. Pass the `id` of the
   * answer to `taken`.
   */
  ask(question: Question, signal: AbortSignal): Promise<QuestionOutcome & { readonly id: string }>;
  /** Lets the approver delete an answer. Called once the turn has made the answer durable. */
  taken(id: string): void;
}

/** The approver of an agent that runs alone; it rejects every request. */
export const noApprover: Approver = {
  ask: ({ toolName }) =>
    Promise.reject(
      new GoondanError(
        'E_APPROVAL_NOBODY',
        `"${toolName}" needs an answer, and this agent runs where no person can be asked.`,
      ),
    ),
  taken: () => undefined,
};
