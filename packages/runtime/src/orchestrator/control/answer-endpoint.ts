/** Endpoint → what it takes, and what it asks of the swarm. */
import { readJsonBody, type RefuseBody } from '../../control/read-json-body.ts';
import { type EndpointName, EVENT_STREAM, PROTOCOL_VERSION, type SwarmGreeting } from '../../control/endpoints.ts';
import type { Delivery } from '../../control/swarm-control.ts';
import { type Check, Misfit } from '../../ipc/check/shape.ts';
import { askTurn, streamTurn, type TurnRequest } from './ask-turn.ts';
import {
  answerBody,
  cancelBody,
  choiceQuery,
  deadLetterBody,
  deleteBody,
  deliveryBody,
  forkBody,
  nothing,
  readQuery,
  restartBody,
  stopBody,
  turnQuery,
  watchQuery,
} from './check-request.ts';
import type { ControlHost } from './control-host.ts';
import { ControlRefusal } from './refuse.ts';
import { stopSwarm } from './stop-swarm.ts';
import { watchEvents } from './watch-events.ts';

/** Answers one request; what it throws is a refusal. */
export type AnswerEndpoint = (host: ControlHost, request: Request, url: URL) => Promise<Response>;

export const answerEndpoint: Readonly<Record<EndpointName, AnswerEndpoint>> = {
  swarm: get(nothing, ({ control }): SwarmGreeting => ({ protocol: PROTOCOL_VERSION, status: control.status() })),
  status: get(nothing, ({ control }) => control.status()),
  instances: get(nothing, async ({ control }) => ({ instances: await control.instances() })),
  deleteInstance: post(
    { query: nothing, body: deleteBody },
    async ({ control }, { body: { agent, instanceKey, ...options } }) => ({
      deleted: true,
      ...(await control.deleteInstance({ agentName: agent, instanceKey }, options)),
    }),
  ),
  forkInstance: post(
    { query: nothing, body: forkBody },
    async ({ control }, { body: { agent, instanceKey, ...options } }) => ({
      forked: true,
      ...(await control.forkInstance({ agentName: agent, instanceKey }, options)),
    }),
  ),
  events: get(watchQuery, (host, { query, request }) => watchEvents(host, query, request.signal)),
  deadLetters: get(choiceQuery, async ({ control }, { query }) => ({ deadLetters: await control.deadLetters(query) })),
  deliver: post({ query: turnQuery, body: deliveryBody, longest: 'longestDelivery' }, async (host, asked) =>
    wantsEvents(asked) ? streamTurn(host, turnOf(asked)) : host.control.deliver(asked.body),
  ),
  ask: post({ query: turnQuery, body: deliveryBody, longest: 'longestDelivery' }, (host, asked) =>
    askTurn(host, turnOf(asked)),
  ),
  cancel: post({ query: nothing, body: cancelBody }, async ({ control }, { body: { reason, ...at } }) => ({
    cancelled: await control.cancel(at, reason),
  })),
  retryDeadLetter: post(
    { query: nothing, body: deadLetterBody },
    async ({ control }, { body: { agent, instanceKey, eventId } }) => ({
      retried: await control.retryDeadLetter({ agentName: agent, instanceKey }, eventId),
    }),
  ),
  dropDeadLetter: post(
    { query: nothing, body: deadLetterBody },
    async ({ control }, { body: { agent, instanceKey, eventId } }) => ({
      dropped: await control.dropDeadLetter({ agentName: agent, instanceKey }, eventId),
    }),
  ),
  approvals: get(nothing, async ({ control }) => ({ approvals: await control.approvals() })),
  approve: post({ query: nothing, body: answerBody }, async ({ control }, { body: { id, ...options } }) => ({
    approved: await control.approve(id, options),
  })),
  deny: post({ query: nothing, body: answerBody }, async ({ control }, { body: { id, ...options } }) => ({
    denied: await control.deny(id, options),
  })),
  restart: post({ query: nothing, body: restartBody }, async ({ control }, { body }) => ({
    restarted: await control.restart(body),
  })),
  reload: post({ query: nothing, body: nothing }, ({ control }) => control.reload()),
  stop: post({ query: nothing, body: stopBody }, (host, asked) =>
    stopSwarm(host, asked.body, { asStream: wantsEvents(asked), left: asked.request.signal }),
  ),
};

interface Asked<Query, Body> {
  readonly request: Request;
  readonly query: Query;
  readonly body: Body;
}

/** A `Response`, or what becomes JSON. */
type Answer<Query, Body> = (host: ControlHost, asked: Asked<Query, Body>) => object | Promise<object>;

function get<Query>(query: Check<Query>, answer: Answer<Query, undefined>): AnswerEndpoint {
  return async (host, request, url) =>
    reply(host, request, answer(host, { request, query: checkQuery(query, url), body: undefined }));
}

interface PostShape<Query, Body> {
  readonly query: Check<Query>;
  readonly body: Check<Body>;
  readonly longest?: 'longestDelivery';
}

function post<Query, Body>(shape: PostShape<Query, Body>, answer: Answer<Query, Body>): AnswerEndpoint {
  return async (host, request, url) => {
    const { limits, clock, bodies: room } = host;
    const query = checkQuery(shape.query, url);
    const longest = limits[shape.longest ?? 'longestBody'];
    const parsed = await readJsonBody(request, { longest, withinMs: limits.bodyMs, clock, room }, refuseBody);
    const body = checked('The body', shape.body, parsed === undefined ? {} : parsed);
    return reply(host, request, answer(host, { request, query, body }));
  };
}

function refuseBody(...[status, message, headers]: Parameters<RefuseBody>): ControlRefusal {
  return new ControlRefusal(status, 'E_CONTROL_REQUEST', message, headers);
}

/** An answer that takes its time is given up when the socket closes or nobody waits for it; one that is there is not. */
async function reply({ open }: ControlHost, { signal }: Request, answer: object | Promise<object>): Promise<Response> {
  const value = answer instanceof Promise ? await open.wait(answer, signal) : answer;
  return value instanceof Response ? value : Response.json(value);
}

function checkQuery<Query>(check: Check<Query>, url: URL): Query {
  return checked('The query', (parameters: URLSearchParams) => check(readQuery(parameters)), url.searchParams);
}

function checked<In, Out>(what: string, check: (value: In) => Out, value: In): Out {
  try {
    return check(value);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new ControlRefusal(400, 'E_CONTROL_REQUEST', `${what} of the request: ${error.message}.`);
  }
}

function wantsEvents({ request }: Asked<unknown, unknown>): boolean {
  return request.headers.get('accept')?.toLowerCase().includes(EVENT_STREAM) ?? false;
}

function turnOf({ request, query, body }: Asked<{ readonly cancelOnDisconnect?: boolean }, Delivery>): TurnRequest {
  return { delivery: body, cancelOnDisconnect: query.cancelOnDisconnect ?? false, left: request.signal };
}
