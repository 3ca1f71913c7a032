/** Answers that people gave for always. */
import type { JsonObject } from '@goondan/types';
import type { Asking } from './question-record.ts';

/** An answer that a person gave for always, in one conversation, as people see it. */
export interface GrantSummary {
  /** The id of the question that was answered. */
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  readonly toolName: string;
  readonly always: 'tool' | 'arguments';
  /** The allowed arguments, with secrets masked; absent if all are allowed. */
  readonly args?: JsonObject;
  readonly askedBy?: Asking;
  /** The words of the question. */
  readonly reason: string;
  /** The person who allowed it. */
  readonly by?: string;
  readonly via?: string;
  readonly decidedAt: string;
}

export interface GrantRevocation {
  readonly id: string;
  /** The name of the person who revokes it, for the log. */
  readonly by: string;
}
