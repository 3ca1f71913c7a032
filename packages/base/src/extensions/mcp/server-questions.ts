/**
 * Asks the person of one call what the server wants to know.
 *
 * 1. The questions of a call are asked one after the other, so that a call that runs again asks them in the same order.
 * 2. Everything that a server sends is untrusted: texts are cleaned here, and the runtime checks forms and pages before
 *    anybody sees them.
 */
import { GoondanError, type JsonObject, type PersonApi, type PersonReply } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import { cleanForm } from './clean-form.ts';
import { McpFailure } from './mcp-failure.ts';
import type { AnswerQuestion, ServerAnswer, ServerQuestion } from './server-question.ts';

/** The maximum number of questions of one call. */
export const MOST_QUESTIONS = 10;
/** The maximum length of the words for the person. */
const LONGEST_MESSAGE = 999;

/** Returns the function that answers the questions of one call. `onDeclined`: called with the reason of a person who declined. */
export function answerQuestions(
  server: string,
  person: PersonApi,
  onDeclined: (note: string) => void = () => undefined,
): AnswerQuestion {
  const questions = new ServerQuestions(server, person);
  return async (question, signal) => {
    const answer = await questions.answer(question, signal);
    if (answer.note !== undefined) onDeclined(answer.note);
    return answer;
  };
}

class ServerQuestions {
  #asked = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: string,
    private readonly person: PersonApi,
  ) {}

  /** Asks the person. **Errors** — a `McpFailure` if the question is not allowed, and those of `ctx.person.ask`. */
  async answer(question: ServerQuestion, signal: AbortSignal): Promise<ServerAnswer> {
    if (this.#asked >= MOST_QUESTIONS)
      throw new McpFailure('question', `it asked more than ${MOST_QUESTIONS} questions in one call.`);
    this.#asked += 1;
    const request = toRequest(question);
    const answer = this.#last.then(() => this.#ask(request, signal));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #ask(request: PageOrForm, signal: AbortSignal): Promise<ServerAnswer> {
    if (signal.aborted) return { action: 'cancel' };
    try {
      return toAnswer(await this.person.ask({ ...request, server: this.server, signal }));
    } catch (error) {
      if (signal.aborted) return { action: 'cancel' };
      // The form is that of the server, and not of the extension.
      if (GoondanError.is(error) && error.code === 'E_APPROVAL_REQUEST')
        throw new McpFailure('question', error.message);
      throw error;
    }
  }
}

interface PageOrForm {
  readonly reason: string;
  readonly form?: JsonObject;
  readonly url?: string;
}

function toRequest(question: ServerQuestion): PageOrForm {
  const said = cleanText(question.message, LONGEST_MESSAGE).trim();
  const reason = said === '' ? 'The server gave no reason.' : said;
  // The host in ASCII, so that no host looks like another one.
  if (question.mode === 'url') return { reason, url: URL.parse(question.url)?.href ?? question.url };
  return { reason, form: cleanForm(question.requestedSchema) };
}

function toAnswer({ outcome, content, note }: PersonReply): ServerAnswer {
  if (outcome === 'declined') return note === undefined ? { action: 'decline' } : { action: 'decline', note };
  if (outcome === 'expired') return { action: 'cancel' };
  return content === undefined ? { action: 'accept' } : { action: 'accept', content };
}
