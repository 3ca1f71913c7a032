/**
 * A local server that speaks one wire format and sends the answers that a test sets. It answers 400 to tools that real
 * servers refuse. For tests only.
 */
import type { JsonObject } from '@goondan/types';
import type { WireDialect, WireReply } from './wire-dialect.ts';

export interface WireRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: JsonObject;
  /** Resolves when the client has closed the connection. */
  readonly gone: Promise<void>;
}

export type WireAnswer =
  /** A reply, streamed if the request asks for a stream. */
  | { readonly reply: WireReply }
  | { readonly status: number; readonly body: string; readonly headers?: Record<string, string> }
  /**
   * The first events of a reply, and optionally another event. After them, depending on `after`, the server stays
   * silent, ends the stream, or sends the rest later.
   */
  | { readonly first: number; readonly of: WireReply; readonly add?: string; readonly after: After }
  /** No answer, not even a header. */
  | 'nothing';

type After = 'silence' | 'end' | Promise<unknown>;

export interface WireServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: WireRequest[];
  /** Sets the next answers, in order. The last answer is repeated. */
  answer(...answers: WireAnswer[]): void;
}

/** `count`: counts the input tokens of a request, in place of the numbers in the replies of the test. */
export function startWireServer(
  dialect: WireDialect,
  count?: (body: JsonObject) => Partial<WireReply['usage']>,
): WireServer {
  const requests: WireRequest[] = [];
  let answers: WireAnswer[] = [];

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const gone = Promise.withResolvers<void>();
      request.signal.addEventListener('abort', () => gone.resolve());
      const body: JsonObject = JSON.parse(await request.text());
      const received = { path: pathname + search, headers: request.headers, body, gone: gone.promise };
      requests.push(received);
      const refusal = refuseTools(dialect.toolNames(body));
      if (refusal !== undefined) {
        return Response.json(dialect.error(400, 'invalid_request_error', refusal), { status: 400 });
      }
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return respond(dialect, received, counted(answer ?? 'nothing', body));
    },
  });

  const counted = (answer: WireAnswer, body: JsonObject): WireAnswer => {
    if (count === undefined || typeof answer === 'string' || !('reply' in answer)) return answer;
    return { reply: { ...answer.reply, usage: { ...answer.reply.usage, ...count(body) } } };
  };

  return {
    url: server.url.href.replace(/\/$/, ''),
    requests,
    answer: (...next) => void (answers = next),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Says what is wrong with the names of tools, as the real servers do. */
function refuseTools(names: readonly unknown[]): string | undefined {
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  const odd = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)));
  return odd === undefined ? undefined : `tools: ${JSON.stringify(odd)} does not match ^[a-zA-Z0-9_-]{1,64}$`;
}

function respond(dialect: WireDialect, request: WireRequest, answer: WireAnswer): Response | Promise<Response> {
  if (answer === 'nothing') return request.gone.then(() => new Response());
  if ('status' in answer) {
    return new Response(answer.body, { status: answer.status, headers: answer.headers ?? {} });
  }
  if ('reply' in answer) {
    if (!dialect.isStreaming(request.path, request.body)) return Response.json(dialect.body(answer.reply));
    return streamResponse(dialect.events(answer.reply), 'end');
  }
  const events = dialect.events(answer.of);
  const first = [...events.slice(0, answer.first), ...(answer.add === undefined ? [] : [answer.add])];
  return streamResponse(first, answer.after, events.slice(answer.first));
}

function streamResponse(events: readonly string[], after: After, rest: readonly string[] = []): Response {
  const body = new ReadableStream<string>({
    async start(controller) {
      await send(events);
      if (after === 'silence') return;
      if (after !== 'end') await after.then(() => send(rest));
      controller.close();

      async function send(some: readonly string[]): Promise<void> {
        for (const event of some) {
          controller.enqueue(event);
          // Each event is sent as its own packet, as a provider does while its model is still writing.
          await Bun.sleep(1);
        }
      }
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
