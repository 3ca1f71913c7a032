/** Reads a posted message as an event: `{ input, id?, output?, …properties }`. */
import type { ConnectorEvent, JsonObject, OutputDemand } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type BodyBounds, readJson } from '../../web/read-body.ts';
import { traceParent } from '../../web/trace-parent.ts';

const LONGEST_ID = 200;

/** Reads the body of the request. Throws a `Refusal` if the message is invalid. */
export async function readMessage(
  request: Request,
  client: string | undefined,
  bounds: BodyBounds,
): Promise<ConnectorEvent> {
  const { input, id, output, ...properties } = await readJson(request, bounds);
  if (typeof input !== 'string') throw new Refusal(400, 'E_HTTP_BODY', '`input` must be a text.');
  const key = idOf(request.headers.get('idempotency-key') ?? undefined, id);
  return {
    name: 'message',
    input,
    // The cast is safe: the properties were parsed from JSON.
    properties: properties as JsonObject,
    // The swarm checks the demand.
    ...(output === undefined ? {} : { output: output as unknown as OutputDemand }),
    ...(client === undefined ? {} : { auth: { client } }),
    // Prefixes the id with the client's name, so that another client cannot get an answer by guessing its id.
    ...(key === undefined ? {} : { id: JSON.stringify([client ?? null, key]) }),
    ...traceParent(request),
  };
}

function idOf(header: string | undefined, id: unknown): string | undefined {
  if (header !== undefined && id !== undefined && header !== id) {
    throw new Refusal(400, 'E_HTTP_BODY', 'The header Idempotency-Key and `id` are not the same.');
  }
  const key = header ?? id;
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= LONGEST_ID && key.isWellFormed()) return key;
  throw new Refusal(400, 'E_HTTP_BODY', `An id must be a text of 1 to ${LONGEST_ID} characters.`);
}
