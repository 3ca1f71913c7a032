/**
 * Answers the requests of a server: questions for a person (`elicitation/create`) are passed to the call that they belong to,
 * and everything else is refused. The SDK asks the questions of an `input_required` result through the same handler.
 */
import { isObject } from '../../json/is-object.ts';
import { McpFailure } from './mcp-failure.ts';
import type { OpenCall, OpenCalls } from './open-calls.ts';
import type { Sdk, SdkClient } from './sdk.ts';
import { readQuestion, type ServerAnswer, type ServerQuestion } from './server-question.ts';

/**
 * The capabilities that the client declares. The SDK must not fill in defaults: the doors show them, and a person may have
 * left such a field out.
 */
export const questionCapabilities = { elicitation: { form: {}, url: {} } } as const;
/** The maximum number of times that a server can answer one call with further questions. */
export const MOST_ROUNDS = 10;
/** The maximum number of times that a call is sent again because a person has opened the pages that it needs. */
const MOST_PAGE_ROUNDS = 3;

export interface ServedDeps {
  readonly sdk: Sdk;
  readonly calls: OpenCalls;
  /** Called when a request of the server is refused. */
  readonly onRefused: (problem: string) => void;
}

export class ServedQuestions {
  /** The pages that people are asked to open, by the ids that the server gave them. */
  readonly #pages = new Map<string, AbortController>();

  constructor(private readonly deps: ServedDeps) {}

  /** Registers the handlers at a client that is not connected yet. */
  serve(client: SdkClient): void {
    const { ProtocolError, ProtocolErrorCode } = this.deps.sdk;
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      try {
        const { action, content } = await this.#answer(params, mcpReq.signal);
        // The cast is safe: the runtime has checked the answer against the form.
        return content === undefined ? { action } : { action, content: content as Record<string, string> };
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.deps.onRefused(message);
        // An `input_required` result is no request: the call itself fails.
        if (client.getProtocolEra() === 'modern') throw error;
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
      }
    });
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      this.#pages.get(params.elicitationId)?.abort(),
    );
    // Requests that servers do not get: sampling and roots.
    client.fallbackRequestHandler = async (request) => {
      const problem = `${refusal(request)} (E_MCP_UNSUPPORTED)`;
      this.deps.onRefused(problem);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, problem);
    };
  }

  /**
   * Runs a request. If the server answers that a person must open pages first, asks the person, and sends the request again.
   */
  async afterPages<Value>(work: () => Promise<Value>): Promise<Value> {
    for (let round = 1; ; round += 1) {
      try {
        return await work();
      } catch (error) {
        const call = this.deps.calls.own();
        const { UrlElicitationRequiredError } = this.deps.sdk;
        const isDemand = UrlElicitationRequiredError.isInstance(error);
        if (call === undefined || !isDemand || round > MOST_PAGE_ROUNDS) throw error;
        await this.#openPages(call, error.elicitations);
      }
    }
  }

  async #openPages(call: OpenCall, pages: unknown): Promise<void> {
    const never = new AbortController().signal;
    for (const page of Array.isArray(pages) ? pages : []) {
      const question = readQuestion(page);
      if (question?.mode !== 'url') throw new McpFailure('question', 'it demands a page, and does not name it.');
      const { action, note } = await this.#ask(call, question, idOf(page), never);
      if (action === 'accept') continue;
      const problem = action === 'decline' ? 'a person declined to open' : 'nobody opened';
      const reason = note === undefined ? '.' : `, and said: ${note}`;
      throw new McpFailure('declined', `${problem} the page that the call needs${reason}`);
    }
  }

  #answer(params: unknown, signal: AbortSignal): Promise<ServerAnswer> {
    const question = readQuestion(params);
    if (question === undefined) throw new McpFailure('question', 'it asked for neither a form nor a page.');
    return this.#ask(this.deps.calls.find(), question, idOf(params), signal);
  }

  /** Asks the person. If the server reports that the person has finished on the page, no other answer is needed. */
  async #ask(call: OpenCall, question: ServerQuestion, id: string | undefined, signal: AbortSignal) {
    if (id === undefined || question.mode === 'form') return call.ask(question, signal);
    const finished = new AbortController();
    this.#pages.set(id, finished);
    try {
      const answer = await call.ask(question, AbortSignal.any([signal, finished.signal]));
      return finished.signal.aborted ? ({ action: 'accept' } as const) : answer;
    } finally {
      this.#pages.delete(id);
    }
  }
}

/** Explains a refused request of the server. */
export function refusal(request: unknown): string {
  const method: unknown =
    typeof request === 'object' && request !== null && 'method' in request ? request.method : undefined;
  return `it asked for ${typeof method === 'string' ? method : 'something'}, which servers do not get.`;
}

function idOf(params: unknown): string | undefined {
  const { elicitationId } = isObject(params) ? params : {};
  return typeof elicitationId === 'string' ? elicitationId : undefined;
}
