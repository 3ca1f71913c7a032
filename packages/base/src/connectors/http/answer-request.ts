/** Handles one request: checks the caller, reads the message, and sends the agent's answer. */
import { type ConnectorAnswer, type ConnectorContext, type ConnectorEvent } from '@goondan/types';
import { encodeEvent, errorBody, EventStream, Refusal } from '@goondan/types/http';
import { type BodyBounds, withLimit } from '../../web/read-body.ts';
import { statusOfCode, toCoded } from '../../web/refuse.ts';
import { Waiting } from '../../web/waiting.ts';
import type { HttpConfig } from './http-config.ts';
import { readMessage } from './read-message.ts';

export async function answerRequest(
  ctx: ConnectorContext<HttpConfig>,
  checkCaller: (request: Request) => string | undefined,
  request: Request,
  url: URL,
  bounds: BodyBounds,
): Promise<Response> {
  const { path = '/', mode = 'answer', timeoutSeconds } = ctx.config;
  const client = checkCaller(request);
  if (url.pathname !== path) throw new Refusal(404, 'E_HTTP_PATH', `There is nothing here; post to ${path}.`);
  if (request.method !== 'POST') {
    throw new Refusal(405, 'E_HTTP_METHOD', `${path} takes POST, not ${request.method}.`, { Allow: 'POST' });
  }
  const event = await readMessage(request, client, withLimit(bounds, ctx.config));
  if (mode === 'accept') {
    await ctx.emit(event);
    return Response.json({ accepted: true }, { status: 202 });
  }
  const waiting = new Waiting(request, timeoutSeconds);
  return wantsStream(request) ? streamTurn(ctx, event, waiting) : answerTurn(ctx, event, waiting);
}

function wantsStream(request: Request): boolean {
  return /\btext\/event-stream\b/i.test(request.headers.get('accept') ?? '');
}

async function answerTurn({ ask, config }: ConnectorContext<HttpConfig>, event: ConnectorEvent, waiting: Waiting) {
  try {
    const answer = await ask(event, { signal: waiting.signal, cancelOnAbort: config.cancelOnDisconnect === true });
    const { error } = answer;
    return Response.json(toJson(answer), { status: error === undefined ? 200 : statusOfCode(error.code) });
  } finally {
    waiting.end();
  }
}

/**
 * Streams `accepted`, `delta` and `discard`, then `done` or `error`. If the request is refused before `accepted`, it
 * gets a plain error response instead.
 */
async function streamTurn({ ask, config }: ConnectorContext<HttpConfig>, event: ConnectorEvent, waiting: Waiting) {
  const stream = new EventStream();
  stream.onOver(() => waiting.leave());
  const accepted = Promise.withResolvers<void>();
  const turn = ask(event, {
    signal: waiting.signal,
    cancelOnAbort: config.cancelOnDisconnect === true,
    onAccepted(acceptance) {
      stream.send(encodeEvent(acceptance, 'accepted'));
      accepted.resolve();
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

/** Converts an answer to JSON: a successful answer without `error`, a failed answer without `response`. */
function toJson({ error, response, ...rest }: ConnectorAnswer) {
  return error === undefined ? { response, ...rest } : { error, ...rest };
}
