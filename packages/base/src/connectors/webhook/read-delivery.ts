/**
 * Turns a delivery with a valid signature into an event: its id, its properties for the rules, and the text for the
 * agent.
 */
import { createHash } from 'node:crypto';
import type { ConnectorEvent, JsonObject } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { traceParent } from '../../web/trace-parent.ts';
import { fillTemplate, isPrimitive, valueAt } from './fill-template.ts';
import type { DeliveryScheme } from './signature-scheme.ts';
import type { WebhookConfig } from './webhook-config.ts';

const INPUT_LIMIT = 20_000;
const LONGEST_ID = 200;
/** The maximum length of a property, because it may become an instance key. */
const LONGEST_PROPERTY = 1_000;

/**
 * Makes the event. If the delivery has no id, or anyone with a copy of it could give it another one, the signature
 * identifies the event: the store handles an event once, whichever node it reaches. Throws a `Refusal` if the delivery is
 * invalid.
 */
export function readDelivery(
  request: Request,
  bytes: Uint8Array,
  { scheme, config, signature }: { scheme: DeliveryScheme; config: WebhookConfig; signature: string | undefined },
): ConnectorEvent {
  const body = parse(request, bytes);
  const event = eventOf(request, scheme);
  const given = idOf(request, body, scheme);
  const isSigned = given !== undefined && !scheme.hasLooseId;
  const eventId = isSigned || signature === undefined ? given : eventIdOf(signature);
  const input =
    config.input === undefined
      ? JSON.stringify(event === undefined ? body : { event, body })
      : fillTemplate(config.input, { body, event, id: given ?? eventId });
  return {
    name: 'delivery',
    input: cut(input, config.inputLimit ?? INPUT_LIMIT),
    // The rules choose the conversation by them, and each conversation would handle the event once.
    properties: { ...propertiesOf({ body, event, id: eventId }, scheme), ...(event === undefined ? {} : { event }) },
    ...(scheme.signature === undefined ? {} : { auth: { signature: scheme.signature.kind } }),
    ...(eventId === undefined ? {} : { id: eventId }),
    ...traceParent(request),
  };
}

/**
 * Returns the delivery's id if it is in a header; otherwise an empty text. Signatures can cover only an id in a header.
 */
export function headerId(request: Request, { id }: DeliveryScheme): string {
  return id !== undefined && 'header' in id ? (request.headers.get(id.header) ?? '') : '';
}

function idOf(request: Request, body: unknown, scheme: DeliveryScheme): string | undefined {
  const { id } = scheme;
  if (id === undefined) return undefined;
  if ('header' in id) return checkId(headerId(request, scheme), `The header ${id.header}`);
  const value = valueAt({ body }, id.body);
  return checkId(typeof value === 'number' ? String(value) : value, id.body);
}

/** Returns a hash, because the signature itself must not be in the store: with it, others could send the delivery again. */
function eventIdOf(signature: string): string {
  return `signed-${createHash('sha256').update(signature).digest('hex')}`;
}

function checkId(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= LONGEST_ID) return value;
  throw new Refusal(400, 'E_HTTP_BODY', `${what} must be an id of 1 to ${LONGEST_ID} characters.`);
}

function eventOf(request: Request, { eventHeader }: DeliveryScheme): string | undefined {
  return eventHeader === undefined
    ? undefined
    : (request.headers.get(eventHeader) ?? undefined)?.slice(0, LONGEST_PROPERTY);
}

function propertiesOf(values: object, { properties }: DeliveryScheme): JsonObject {
  const found: JsonObject = {};
  for (const [name, path] of Object.entries(properties)) {
    const value = valueAt(values, path);
    const fits = typeof value !== 'string' || value.length <= LONGEST_PROPERTY;
    if (isPrimitive(value) && fits) found[name] = value;
  }
  return found;
}

function parse(request: Request, bytes: Uint8Array): unknown {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (!/^application\/(?:[\w.-]+\+)?json$/i.test(type.trim())) {
    throw new Refusal(415, 'E_HTTP_TYPE', 'The body must be JSON, with the Content-Type application/json.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'E_HTTP_BODY', 'The body is not JSON in UTF-8.');
  }
}

function cut(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit).toWellFormed()}… (${text.length - limit} more characters)`;
}
