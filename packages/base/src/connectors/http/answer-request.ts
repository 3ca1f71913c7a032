/** Handles one request: checks the caller, reads the message, and sends the agent's answer. */
import type { ConnectorAnswer, ConnectorContext, QuestionChange } from '@goondan/types';
import { encodeEvent, errorBody, EventStream, Refusal } from '@goondan/types/http';
import { type BodyBounds, withLimit } from '../../web/read-body.ts';
import { statusOfCode, toCoded } from '../../web/refuse.ts';
import { type AskingTurn, askUntilQuestion, watchTurn } from '../../web/turn-questions.ts';
import { Waiting } from '../../web/waiting.ts';
import { answerQuestions, questionIdOf, showQuestion } from './answer-questions.ts';
import type { HttpConfig } from './http-config.ts';
import { type Message, readMessage } from './read-message.ts';

export async function answerRequest(
  ctx: ConnectorContext<HttpConfig>,
  checkCaller: (request: Request) => string | undefined,
  request: Request,
  url: URL,
  bounds: BodyBounds,
): Promise<Response> {
  const { path = '/', mode = 'answer', timeoutSeconds } = ctx.config;
  const client = checkCaller(request);
  const questionId = questionIdOf(path, url.pathname);
  if (questionId !== undefined) return answerQuestions(ctx, client, questionId, request, bounds);
  if (url.pathname !== path) throw new Refusal(404, 'E_HTTP_PATH', `There is nothing here; post to ${path}.`);
  if (request.method !== 'POST') {
    throw new Refusal(405, 'E_HTTP_METHOD', `${path} takes POST, not ${request.method}.`, { Allow: 'POST' });
  }
  // A client that gets a question repeats its message, so the message needs a key.
  const newKey = ctx.questions.isAllowed ? () => crypto.randomUUID() : undefined;
  const message = await readMessage(request, client, withLimit(bounds, ctx.config), newKey);
  if (mode === 'accept') {
    await ctx.emit(message.event);
    return Response.json({ accepted: true }, { status: 202 });
  }
  const waiting = new Waiting(request, timeoutSeconds);
  return wantsStream(request) ? streamTurn(ctx, message, waiting) : answerTurn(ctx, message, waiting);
}

function wantsStream(request: Request): boolean {
  return /\btext\/event-stream\b/i.test(request.headers.get('accept') ?? '');
}

async function answerTurn(ctx: ConnectorContext<HttpConfig>, message: Message, waiting: Waiting) {
  const cancelOnAbort = ctx.config.cancelOnDisconnect === true;
  try {
    const answer = await askUntilQuestion(ctx, message.event, { signal: waiting.signal, cancelOnAbort });
    if ('questions' in answer) return askClient(answer, message.key);
    const { error } = answer;
    return Response.json(toJson(answer), { status: error === undefined ? 200 : statusOfCode(error.code) });
  } finally {
    waiting.end();
  }
}

/** Returns the questions of a turn. The client repeats its request with the key `id` to get the answer of the turn. */
function askClient({ acceptance, questions }: AskingTurn, id: string | undefined): Response {
  const { duplicate: _, ...turn } = acceptance;
  return Response.json({ questions: questions.map(showQuestion), id, ...turn }, { status: 202 });
}

/**
 * Streams `accepted`, `delta`, `discard`, and questions with their ends, then `done` or `error`. If the request is
 * refused before `accepted`, it gets a plain error response instead.
 */
async function streamTurn(
  { ask, questions, config }: ConnectorContext<HttpConfig>,
  { event }: Message,
  waiting: Waiting,
): Promise<Response> {
  const stream = new EventStream();
  stream.onOver(() => waiting.leave());
  const accepted = Promise.withResolvers<void>();
  const turn = ask(event, {
    signal: waiting.signal,
    cancelOnAbort: config.cancelOnDisconnect === true,
    onAccepted(acceptance) {
      stream.send(encodeEvent(acceptance, 'accepted'));
      accepted.resolve();
      stream.onOver(watchTurn(questions, acceptance, (change) => stream.send(encodeChange(change))));
    },
    onDelta({ type, stepIndex: step, ...delta }) {
      if (type === 'discard') stream.send(encodeEvent({ step }, 'discard'));
      else if ('text' in delta) stream.send(encodeEvent({ type, text: delta.text, step }, 'delta'));
    },
  });
  const over = turn
    .then(
      (answer) => stream.send(encodeEvent(toJson(answer), 'done')),
      (error: unknown) => stream.send(encodeEvent(errorBody(toCoded(error)), 'error')),
    )
    .finally(() => {
      waiting.end();
      stream.end();
    });
  // This line throws if the event is refused. Later errors are sent in the stream.
  await Promise.race([accepted.promise, turn]);
  void over;
  return stream.response();
}

/** Makes the event `question`, or `answered`, `expired` or `withdrawn`. */
function encodeChange({ state, question, by, via }: QuestionChange): Uint8Array {
  if (state === 'asked') return encodeEvent(showQuestion(question), 'question');
  return encodeEvent({ id: question.id, ...(by !== undefined && { by }), ...(via !== undefined && { via }) }, state);
}

/** Converts an answer to JSON: a successful answer without `error`, a failed answer without `response`. */
function toJson({ error, response, ...rest }: ConnectorAnswer) {
  return error === undefined ? { response, ...rest } : { error, ...rest };
}
