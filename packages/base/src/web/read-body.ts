/** Reads the body of a request to a connector, within limits of size, time and places. */
import { checkJsonType, parseJson, readBody as readBytes, Refusal, type RefuseBody } from '@goondan/types/http';
import { isObject } from '../json/is-object.ts';
import type { BodyPlaces } from './body-places.ts';

export const LONGEST_BODY = 1_000_000;
const SLOWEST_MS = 30_000;

export interface BodyBounds {
  readonly longest?: number;
  readonly withinMs?: number;
  /** The places for bodies of this server; absent when no server is involved. */
  readonly places?: BodyPlaces;
}

/** Sets the limit of a connector that takes files. Only clients with a right token may send a long body. */
export function withLimit(
  bounds: BodyBounds,
  { maxBodyBytes = LONGEST_BODY }: { readonly maxBodyBytes?: number },
): BodyBounds {
  return { ...bounds, longest: maxBodyBytes };
}

/**
 * Returns the raw bytes. Throws a `Refusal` with one of these statuses: 413 (too large), 408 (too slow), 429 (too many
 * bodies at once) or 400 (incomplete).
 */
export async function readBody(
  request: Request,
  { longest = LONGEST_BODY, withinMs = SLOWEST_MS, places }: BodyBounds = {},
): Promise<Uint8Array> {
  const bounds = { longest, withinMs };
  const ended = new AbortController();
  const read = () => readBytes(request, { ...bounds, signal: ended.signal }, refuseBody);
  // A body that is too large or missing takes no place, so that it does not displace another body.
  const isBrief = request.body === null || Number(request.headers.get('content-length') ?? 0) > longest;
  const bytes = await (places === undefined || isBrief ? read() : places.hold(() => ended.abort(displaced()), read));
  places?.checkRoom();
  return bytes;
}

/**
 * Reads a body that must be a JSON object with the type `application/json`. Throws a `Refusal` with status 415 or 400,
 * or a `Refusal` of `readBody`.
 */
export async function readJson(request: Request, bounds?: BodyBounds): Promise<Readonly<Record<string, unknown>>> {
  checkJsonType(request, refuseBody);
  return parseObject(await readBody(request, bounds));
}

/** Parses a JSON object. Throws a `Refusal` with 400 for anything else. */
export function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value = parseJson(bytes, refuseBody);
  if (isObject(value)) return value;
  throw refuseBody(400, 'The body of the request must be a JSON object.');
}

const codes = { 400: 'E_HTTP_BODY', 408: 'E_HTTP_SLOW', 413: 'E_HTTP_SIZE', 415: 'E_HTTP_TYPE' } as const;

function refuseBody(...[status, message, headers]: Parameters<RefuseBody>): Refusal {
  return new Refusal(status, codes[status], message, headers);
}

function displaced(): Refusal {
  const message = 'The body of the request arrived too slowly, and another request needed its slot.';
  return refuseBody(408, message, { Connection: 'close' });
}
