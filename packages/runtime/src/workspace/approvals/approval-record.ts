/** A question to a person about one tool call, and its answer, as it is kept on disk. */
import type { ApprovalOutcome, JsonObject } from '@goondan/types';

export interface ApprovalRecord {
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  /** The event whose turn asks. */
  readonly eventId: string;
  readonly traceId: string;
  /** Where in the turn it is asked. */
  readonly key: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** For people: secrets are masked. What is approved is what `digest` is of. */
  readonly args: JsonObject;
  /** SHA-256 of the arguments as they are, in canonical JSON. */
  readonly digest: string;
  readonly reason: string;
  readonly askedAt: string;
  readonly expiresAt: string;
  readonly answer?: ApprovalRecordAnswer;
}

/** Given by a person. That nobody answered in time follows from `expiresAt`. */
export interface ApprovalRecordAnswer extends ApprovalOutcome {
  readonly decision: 'approved' | 'denied';
  readonly decidedAt: string;
}
