/** Questions of agents to people, as a connector shows and answers them. */
import type { AlwaysScope } from './always-scope.ts';
import type { JsonObject } from './json.ts';

/** A question of a turn that an event of this Connection began, or of an agent that such a turn called. */
export interface ConnectorQuestion {
  readonly id: string;
  /** The agent and the conversation that ask. */
  readonly agent: string;
  readonly instanceKey: string;
  /** The turn of the event that began the work, as in `ConnectorAcceptance`. */
  readonly turnId: string;
  /** The `auth` of that event. */
  readonly auth?: JsonObject;
  /**
   * `call`: approve a tool call. `change`: approve a change of the bundle. `budget`: raise a budget. `form`: fill a form.
   * `page`: open a page, such as a sign-in.
   */
  readonly kind: 'call' | 'change' | 'budget' | 'form' | 'page';
  /** The extension that asks, and the server on whose behalf it asks. */
  readonly askedBy?: { readonly extension?: string; readonly server?: string };
  /** The words for the person. */
  readonly reason: string;
  readonly toolName: string;
  /** The subject, with secrets masked: the arguments of a call, a diff, or a budget. Empty for a form and a page. */
  readonly args: JsonObject;
  /** `call`: the schema of the arguments, if they can be edited. `form`: the form. */
  readonly schema?: JsonObject;
  /** The address of a page. */
  readonly url?: string;
  /** Identifies everything that is asked. Send it back with the answer. */
  readonly digest: string;
  readonly askedAt: string;
  readonly expiresAt: string;
}

/** A question was asked, or has ended. */
export interface QuestionChange {
  /** `withdrawn`: the turn ended, or no longer needs an answer. */
  readonly state: 'asked' | 'answered' | 'expired' | 'withdrawn';
  readonly question: ConnectorQuestion;
  /** The person who answered, through any channel. */
  readonly by?: string;
  /** The door through which they did, such as `chat`, or the name of a connector. */
  readonly via?: string;
}

/** The answer of a person. */
export interface ConnectorReply {
  readonly id: string;
  /** The digest of the question that the person saw. If it differs, the answer is refused. */
  readonly digest?: string;
  /** For a form and a page: answered, or declined. */
  readonly decision: 'approved' | 'denied';
  /** The person, as the connector established it. People see `NAME@CONNECTION`. */
  readonly by: string;
  /**
   * If present, only the sender of the event that began the work may answer: `auth` must equal the `auth` of that event.
   */
  readonly auth?: JsonObject;
  /** A comment for the model. */
  readonly note?: string;
  /** `call`: the arguments as the person edited them. */
  readonly args?: JsonObject;
  /** `form`: the filled form. */
  readonly content?: JsonObject;
  /** `call`: keep the answer in this conversation. `alwaysScopesOf` returns the choices. */
  readonly always?: AlwaysScope;
}

/**
 * The questions of turns that events of this Connection began. There are none unless the Connection has
 * `answersQuestions: true`.
 *
 * @example
 * ctx.questions.watch(({ state, question }) => {
 *   if (state === 'asked') void post(question.auth?.user, question.reason, question.id);
 * });
 */
export interface ConnectorQuestions {
  /** True if the Connection has `answersQuestions: true`. */
  readonly isAllowed: boolean;
  /** Lists the questions that wait for an answer, oldest first. */
  list(): readonly ConnectorQuestion[];
  /**
   * Calls the listener with each question that waits now, before it returns, and with each change after that. Returns a
   * function that ends the calls. A listener that throws is logged, without further effect.
   */
  watch(listener: (change: QuestionChange) => void): () => void;
  /**
   * Answers a question. Resolves when the answer is durable.
   *
   * **Errors** — `E_QUESTION_FORBIDDEN`: the question belongs to somebody else, or the Connection may not answer;
   * `E_QUESTION_UNKNOWN`: there is no such question; `E_QUESTION_ENDED`: it was answered, withdrawn, or has expired;
   * `E_QUESTION_CHANGED`: the digest differs; `E_QUESTION_REPLY`: a field does not fit the question. With too many answers
   * under way: `E_CALLS_FULL`, which is `retryable`. After `E_IPC_CLOSED` it is unknown whether the answer counts.
   */
  answer(reply: ConnectorReply): Promise<void>;
}
