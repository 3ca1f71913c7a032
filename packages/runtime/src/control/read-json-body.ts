/** The body of a request to one of our own servers, within bounds of size and time. Nothing more of it is ever held. */
import type { Clock } from '../ports/clock.ts';

export interface BodyBounds {
  readonly longest: number;
  readonly withinMs: number;
  readonly clock: Clock;
  /** What all bodies that are being read share. `take` throws when there is no room for so many bytes more. */
  readonly room?: { take(bytes: number): void; give(bytes: number): void };
}

/** How the server says no. */
export type RefuseBody = (
  status: 400 | 408 | 413,
  message: string,
  headers?: Readonly<Record<string, string>>,
) => Error;

/** Undefined when it is empty. Throws what `refuse` makes. */
export async function readJsonBody(request: Request, bounds: BodyBounds, refuse: RefuseBody): Promise<unknown> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > bounds.longest) throw tooLong(bounds, refuse);
  const bytes = await readBytes(request, bounds, refuse);
  return bytes.length === 0 ? undefined : parse(bytes, refuse);
}

async function readBytes(request: Request, bounds: BodyBounds, refuse: RefuseBody): Promise<Uint8Array> {
  const { longest, withinMs, clock, room } = bounds;
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  let isLate = false;
  const callOff = clock.after(withinMs, () => {
    isLate = true;
    reader.cancel().catch(() => undefined);
  });
  const brokenOff = () => {
    throw refuse(400, 'The body of the request broke off.');
  };
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(brokenOff);
      if (isLate) throw tooSlow(bounds, refuse);
      if (done) return Buffer.concat(pieces, length);
      if (length + value.length > longest) throw tooLong(bounds, refuse);
      room?.take(value.length);
      length += value.length;
      pieces.push(value);
    }
  } finally {
    room?.give(length);
    callOff();
  }
}

function parse(bytes: Uint8Array, refuse: RefuseBody): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuse(400, 'The body of the request is not JSON in UTF-8.');
  }
}

/** What is left of the body would else be read as the next request. */
const closing = { Connection: 'close' };

function tooLong({ longest }: BodyBounds, refuse: RefuseBody): Error {
  return refuse(413, `The body of the request is longer than the ${longest} bytes allowed here.`, closing);
}

function tooSlow({ withinMs }: BodyBounds, refuse: RefuseBody): Error {
  return refuse(408, `The body of the request did not come within ${withinMs} ms.`, closing);
}
