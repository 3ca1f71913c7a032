/** A question to a person, and the answer, as stored on disk. */
import type { AlwaysScope, ApprovalOutcome, EventRoot, JsonObject } from '@goondan/types';

/**
 * `call`: approve a tool call. `change`: approve a changeset; `args` is a `ChangesetToApprove`. `budget`: raise a budget;
 * `args` is a `BudgetToApprove`. `form`: fill a form. `page`: open a page, such as a sign-in.
 */
export const questionKinds = ['call', 'change', 'budget', 'form', 'page'] as const;

export type QuestionKind = (typeof questionKinds)[number];

/** The part of an agent that asks: an extension, and the server on whose behalf it asks. */
export interface Asking {
  readonly extension?: string;
  readonly server?: string;
}

export interface QuestionRecord {
  readonly id: string;
  readonly agent: string;
  readonly instanceKey: string;
  /** The event of the turn that asks. */
  readonly eventId: string;
  readonly traceId: string;
  /** The event of a Connection that began the work, and its `auth`; absent if the work began elsewhere. */
  readonly root?: EventRoot & { readonly auth?: JsonObject };
  /** Identifies the question within its turn. */
  readonly key: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly kind: QuestionKind;
  /** Absent if the runtime asks, or a tool of the bundle. */
  readonly askedBy?: Asking;
  /** The words for the person. */
  readonly reason: string;
  /**
   * The subject for people to read, with secrets masked: the arguments of a tool call, a diff, or a budget. Empty for a form
   * and a page. The answer is valid for the unmasked arguments, which `digest` identifies.
   */
  readonly args: JsonObject;
  /** `call`: the schema of the tool's arguments, to check edited ones; absent if it is large. `form`: the form. */
  readonly schema?: JsonObject;
  /** The address of a page. */
  readonly url?: string;
  /** `call`: identifies the tool as it is now: its description, its schema, and its provider. */
  readonly fingerprint?: string;
  /** SHA-256 of everything that was asked; see `question-digest.ts`. */
  readonly digest: string;
  readonly askedAt: string;
  readonly expiresAt: string;
  /** The answer of a person. An expired question has no stored answer: its `expiresAt` is in the past. */
  readonly answer?: QuestionAnswer;
}

export interface QuestionAnswer {
  /** For a form and a page: answered, or declined. */
  readonly decision: 'approved' | 'denied';
  /** The name of the person. */
  readonly by?: string;
  /** The door through which the answer came, such as `chat` or `studio`. */
  readonly via?: string;
  readonly note?: string;
  /** `call`: the arguments as the person edited them. */
  readonly args?: JsonObject;
  /** `form`: the filled form. */
  readonly content?: JsonObject;
  /** `call`: the answer stays valid in this conversation, for so many calls of the tool. */
  readonly always?: AlwaysScope;
  /** `call`: the id of the question whose answer, given for always, is also this one. */
  readonly grant?: string;
  readonly decidedAt: string;
}

/** A question with its answer. */
export type AnsweredQuestion = QuestionRecord & Required<Pick<QuestionRecord, 'answer'>>;

/** A question as people see it. */
export type QuestionSummary = Omit<QuestionRecord, 'key' | 'answer'>;

/** The end of a question, as its turn gets it. */
export interface QuestionOutcome extends ApprovalOutcome {
  /** The filled form. */
  readonly content?: JsonObject;
  /** The arguments that the person saw, with secrets masked, if they were edited. */
  readonly seen?: JsonObject;
  /** The id of the earlier answer that is always valid, if nobody was asked. */
  readonly grant?: string;
  /** The time from the question to its answer, if no process waited for it meanwhile. */
  readonly afterMs?: number;
}

export function summaryOf({ key: _key, answer: _answer, ...summary }: QuestionRecord): QuestionSummary {
  return summary;
}
