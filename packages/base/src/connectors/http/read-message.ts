/** Reads a posted message as an event: `{ input, content?, id?, output?, …properties }`, as JSON or as a form with files. */
import type { ConnectorEvent, InputPart, JsonObject, OutputDemand } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type BodyBounds, readJson } from '../../web/read-body.ts';
import { isObject } from '../../json/is-object.ts';
import { traceParent } from '../../web/trace-parent.ts';
import { isForm, readForm } from './read-form.ts';

const LONGEST_ID = 200;

export interface Message {
  readonly event: ConnectorEvent;
  /** The key with which the client can repeat the message. */
  readonly key: string | undefined;
}

/**
 * Reads the body of the request. Throws a `Refusal` if the message is invalid. `newKey` makes a key if the client has not
 * given one; without it, such a message cannot be repeated.
 */
export async function readMessage(
  request: Request,
  client: string | undefined,
  bounds: BodyBounds,
  newKey?: () => string,
): Promise<Message> {
  const { fields, files } = isForm(request)
    ? await readForm(request, bounds)
    : { fields: await readJson(request, bounds), files: [] };
  const { input, id, content, output, ...properties } = fields;
  const parts = [...readContent(content), ...files];
  // A message without files needs a text.
  if (typeof input !== 'string' && (input !== undefined || parts.length === 0)) {
    throw new Refusal(400, 'E_HTTP_BODY', '`input` must be a text.');
  }
  const key = idOf(request.headers.get('idempotency-key') ?? undefined, id) ?? newKey?.();
  const event: ConnectorEvent = {
    name: 'message',
    ...(input === undefined ? {} : { input }),
    ...(parts.length === 0 ? {} : { content: parts }),
    // The cast is safe: the properties were parsed from JSON.
    properties: properties as JsonObject,
    // The swarm checks the demand.
    ...(output === undefined ? {} : { output: output as unknown as OutputDemand }),
    ...(client === undefined ? {} : { auth: { client } }),
    // Prefixes the id with the client's name, so that another client cannot get an answer by guessing its id.
    ...(key === undefined ? {} : { id: JSON.stringify([client ?? null, key]) }),
    ...traceParent(request),
  };
  return { event, key };
}

/** The swarm checks the parts, with an error that names the part. References are for the inside of a swarm. */
function readContent(content: unknown): readonly InputPart[] {
  if (content === undefined) return [];
  if (!Array.isArray(content)) throw new Refusal(400, 'E_HTTP_BODY', '`content` must be a list of parts.');
  for (const part of content as unknown[]) {
    if (isObject(part) && [part.image, part.data].some(isReference)) {
      throw new Refusal(400, 'E_FILE_INVALID', 'A file must be base64, a data URL or a URL.');
    }
  }
  // Safe: the parts are untrusted until the swarm has checked them.
  return content as InputPart[];
}

function isReference(source: unknown): boolean {
  return typeof source === 'string' && source.startsWith('blob:');
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
