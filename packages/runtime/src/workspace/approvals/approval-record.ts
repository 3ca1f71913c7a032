/** A question to a person about one tool call, and its answer, as stored on disk. */
import type { ApprovalOutcome, JsonObject } from '@goondan/types';

export interface ApprovalRecord {
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  /** The event of the asking turn. */
  readonly eventId: string;
  readonly traceId: string;
  /** The position of the question in the turn. */
  readonly key: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Arguments for people to read, with secrets masked. The approval covers the arguments behind `digest`. */
  readonly args: JsonObject;
  /** SHA-256 of the unmasked arguments in canonical JSON. */
  readonly digest: string;
  readonly reason: string;
  readonly askedAt: string;
  readonly expiresAt: string;
  /** An answer given by a person. A missing answer is not stored: it follows from `expiresAt`. */
  readonly answer?: ApprovalOutcome & { readonly decision: 'approved' | 'denied'; readonly decidedAt: string };
}
