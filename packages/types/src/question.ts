/** Lets a tool ask a person for a filled form, or to open a page. Bundle code cannot answer a question. */
import type { JsonObject } from './json.ts';

export interface PersonRequest {
  /** The words for the person: the subject and the purpose of the question. At most 1000 characters. */
  reason: string;
  /**
   * The form: a JSON Schema of an object with at most 20 flat fields. A field is a text (`minLength`, `maxLength`, `format`:
   * `email`, `uri`, `date` or `date-time`), a choice (`enum`, or `oneOf` with `const` and `title`), a list of choices, a
   * number (`minimum`, `maximum`), or yes and no. Each may have `title`, `description` and `default`. A `required` text is not
   * empty, unless it has `minLength: 0`.
   */
  form?: JsonObject;
  /** Instead of a form: a page that the person opens, such as a sign-in. `https:`, or `http:` of this machine. */
  url?: string;
  /** The name of the server on whose behalf the tool asks, for people. */
  server?: string;
  /** The time after which the question, or an answer that was not used yet, expires. At most 30 days; 24 hours when absent. */
  expiresInMs?: number;
  /**
   * Withdraws the question, because no answer is needed any more: the page has reported its end, for example. `ask` then
   * rejects with the reason of the signal, and nothing is recorded.
   */
  signal?: AbortSignal;
}

export interface PersonReply {
  readonly outcome: 'answered' | 'declined' | 'expired';
  /** The filled form, which fits its schema. */
  readonly content?: JsonObject;
  /** The person who answered, as identified by their channel. */
  readonly by?: string;
  /** The door through which the answer came, such as `chat` or `studio`. */
  readonly via?: string;
  /** The comment of the person. */
  readonly note?: string;
}

/** Asks a person on behalf of a tool. */
export interface PersonApi {
  /**
   * Asks a person and waits for the answer, also across restarts. All deadlines of the turn and of the tool are paused
   * meanwhile.
   *
   * **Rules** — the question is an effect: a handler that runs again after a crash, because its tool is idempotent, waits
   * for the same question, or gets its answer. Questions of one call are numbered in the order of their calls.
   * **Errors** — thrown before the person is asked: `E_APPROVAL_REQUEST`, `E_APPROVALS_FULL`, `E_APPROVAL_NOBODY`. When
   * the turn is cancelled: the reason of the cancel.
   *
   * @example const { content } = await ctx.person.ask({ reason: 'Which branch?', form: { type: 'object', properties: { branch: { type: 'string' } } } })
   */
  ask(request: PersonRequest): Promise<PersonReply>;
}
