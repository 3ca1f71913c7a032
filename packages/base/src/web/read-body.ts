/** The body of a request, within bounds of size and time. Nothing more of it is ever held. */
import type { BodyPlaces } from './body-places.ts';
import { Refusal } from './refusal.ts';

export const LONGEST_BODY = 1_000_000;
const SLOWEST_MS = 30_000;

export interface BodyBounds {
  readonly longest?: number;
  readonly withinMs?: number;
  /** The places of the server; a request without a server needs none. */
  readonly places?: BodyPlaces;
}

/** The raw bytes. Throws a `Refusal`: 413, 408, 429, or 400 when it breaks off. */
export async function readBody(
  request: Request,
  { longest = LONGEST_BODY, withinMs = SLOWEST_MS, places }: BodyBounds = {},
): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > longest) throw tooLong(longest);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  let ended: Refusal | undefined;
  const end = (why: Refusal) => {
    ended ??= why;
    reader.cancel().catch(() => undefined);
  };
  const timer = setTimeout(() => end(tooSlow(`did not come within ${withinMs} ms`)), withinMs);
  try {
    const read = () => readAll(reader, longest, () => ended);
    if (places === undefined) return await read();
    const bytes = await places.hold(() => end(tooSlow('was still coming when others needed its place')), read);
    places.checkRoom();
    return bytes;
  } finally {
    clearTimeout(timer);
  }
}

/** `ended`: why it is not read any more. */
async function readAll(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>,
  longest: number,
  ended: () => Refusal | undefined,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { value, done } = await reader.read().catch(brokenOff);
    const why = ended();
    if (why !== undefined) throw why;
    if (done) return Buffer.concat(pieces, length);
    length += value.length;
    if (length > longest) throw tooLong(longest);
    pieces.push(value);
  }
}

/** A body that has to be a JSON object, of the type `application/json`. Throws a `Refusal`: 415, 400, and those above. */
export async function readJson(request: Request, bounds?: BodyBounds): Promise<Readonly<Record<string, unknown>>> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Refusal(415, 'E_HTTP_TYPE', `The body must be application/json, not ${type.trim() || 'of no type'}.`);
  }
  return parseObject(await readBody(request, bounds));
}

/** Throws a `Refusal`: 400. */
export function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'E_HTTP_BODY', 'The body is not JSON in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(400, 'E_HTTP_BODY', 'The body must be a JSON object.');
  }
  // An object from JSON has texts for keys.
  return value as Readonly<Record<string, unknown>>;
}

function brokenOff(): never {
  throw new Refusal(400, 'E_HTTP_BODY', 'The body broke off.');
}

/** What is left of the body would else be read as the next request. */
const closing = { Connection: 'close' };

function tooLong(longest: number): Refusal {
  return new Refusal(413, 'E_HTTP_SIZE', `The body is longer than the ${longest} bytes allowed here.`, closing);
}

function tooSlow(how: string): Refusal {
  return new Refusal(408, 'E_HTTP_SLOW', `The body ${how}.`, closing);
}
