import type { Clock } from '../../ports/clock.ts';
import type { BodyRoom } from './body-room.ts';
import { ControlRefusal } from './refuse.ts';

export interface BodyBounds {
  readonly longest: number;
  readonly withinMs: number;
  readonly clock: Clock;
  readonly room: BodyRoom;
}

/** The JSON of a request; `{}` when its body is empty. Never holds more than the bound. Throws `ControlRefusal`. */
export async function readBody(request: Request, bounds: BodyBounds): Promise<unknown> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > bounds.longest) throw tooLong(bounds.longest);
  const bytes = await readBytes(request, bounds);
  if (bytes.length === 0) return {};
  return parse(bytes);
}

async function readBytes(request: Request, { longest, withinMs, clock, room }: BodyBounds): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  let isLate = false;
  const callOff = clock.after(withinMs, () => {
    isLate = true;
    reader.cancel().catch(() => undefined);
  });
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(brokenOff);
      if (isLate) throw tooSlow(withinMs);
      if (done) return Buffer.concat(pieces, length);
      if (length + value.length > longest) throw tooLong(longest);
      room.take(value.length);
      length += value.length;
      pieces.push(value);
    }
  } finally {
    room.give(length);
    callOff();
  }
}

function brokenOff(): never {
  throw new ControlRefusal(400, 'E_CONTROL_REQUEST', 'The body of the request broke off.');
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ControlRefusal(400, 'E_CONTROL_REQUEST', 'The body of the request is not JSON in UTF-8.');
  }
}

/** What is left of the body would else be read as the next request. */
const closing = { Connection: 'close' };

function tooLong(longest: number): ControlRefusal {
  const message = `The body of the request is longer than the ${longest} bytes allowed here.`;
  return new ControlRefusal(413, 'E_CONTROL_REQUEST', message, closing);
}

function tooSlow(withinMs: number): ControlRefusal {
  const message = `The body of the request did not come within ${withinMs} ms.`;
  return new ControlRefusal(408, 'E_CONTROL_REQUEST', message, closing);
}
