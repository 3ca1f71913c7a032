/**
 * Validates one request by the table of operations, calls the swarm's method of the same name, and answers with its
 * result.
 */
import { parseJson, readBody, Refusal, type RefuseBody } from '@goondan/types/http';
import {
  EVENT_STREAM,
  type Operation,
  type OperationName,
  operations,
  type PlainName,
} from '../../control/operations.ts';
import type { Swarm } from '../../control/swarm.ts';
import { type Check, exactObject, ShapeError } from '../../ipc/check/shape.ts';
import { askTurn, streamTurn } from './ask-turn.ts';
import type { ControlHost } from './control-host.ts';
import { stopSwarm } from './stop-swarm.ts';
import { watchEvents } from './watch-events.ts';

/** Answers one operation. Throws an error if the request is rejected. */
export async function answerOperation(
  host: ControlHost,
  name: OperationName,
  request: Request,
  url: URL,
): Promise<Response> {
  const { signal: left } = request;
  const asStream = request.headers.get('accept')?.toLowerCase().includes(EVENT_STREAM) === true;
  switch (name) {
    case 'ask': {
      const asked = await readRequest(host, operations.ask, request, url);
      return asStream
        ? host.open.wait(streamTurn(host, asked, left), left)
        : writeAnswer(host, operations.ask, askTurn(host, asked, left), left);
    }
    case 'watch':
      return watchEvents(host, await readRequest(host, operations.watch, request, url), left);
    case 'stop':
      return stopSwarm(host, await readRequest(host, operations.stop, request, url), { asStream, left });
    default: {
      // Safe: request and answer belong to the same operation, which the compiler cannot infer for a variable name.
      const operation = operations[name] as Operation<object, unknown>;
      const method = host.swarm[name] as (asked: object) => ReturnType<Swarm[PlainName]>;
      const asked = await readRequest(host, operation, request, url);
      const { caller: by } = host;
      const signed = by !== undefined && (name === 'answer' || name === 'revoke') ? { ...asked, by } : asked;
      return writeAnswer(host, operation, method(signed), left);
    }
  }
}

/** Writes the answer. Stops when the socket closes or the client disconnects. */
async function writeAnswer<Answer>(
  { open }: ControlHost,
  { answer }: Operation<unknown, Answer>,
  result: Promise<Answer>,
  left: AbortSignal,
): Promise<Response> {
  return Response.json(answer.write(await open.wait(result, left)));
}

async function readRequest<Asked>(
  { limits, longestDelivery, clock, bodies: room }: ControlHost,
  { method, request: { check }, isDelivery }: Operation<Asked, unknown>,
  request: Request,
  url: URL,
): Promise<Asked> {
  const readFrom = <Value>(checkQuery: Check<Value>) =>
    checked('The query', (query) => checkQuery(readQuery(query)), url.searchParams);
  if (method === 'GET') return readFrom(check);
  readFrom(noQuery);
  const longest = isDelivery === true ? longestDelivery() : limits.longestBody;
  const bytes = await readBody(request, { longest, withinMs: limits.bodyMs, clock, room }, refuseBody);
  return checked('The body', check, bytes.length === 0 ? {} : parseJson(bytes, refuseBody));
}

const noQuery = exactObject({});

/** Returns a query as an object. */
function readQuery(parameters: URLSearchParams): Record<string, string> {
  // Created without a prototype, so that `__proto__` is a name like any other.
  const query: Record<string, string> = Object.create(null);
  for (const [key, value] of parameters) {
    if (key in query) throw new ShapeError('is there twice', key.slice(0, 60));
    query[key] = value;
  }
  return query;
}

function checked<In, Out>(what: string, check: (value: In) => Out, value: In): Out {
  try {
    return check(value);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new Refusal(400, 'E_CONTROL_REQUEST', `${what} of the request: ${error.message}.`);
  }
}

function refuseBody(...[status, message, headers]: Parameters<RefuseBody>): Refusal {
  return new Refusal(status, 'E_CONTROL_REQUEST', message, headers);
}
