/** Reads the body of a request within limits of size and time. Never buffers more than the size limit. */
import type { RefuseBody } from './refusal.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface BodyBounds {
  readonly longest: number;
  readonly withinMs: number;
  /** The timers to use; the system's timers when absent. */
  readonly clock?: Timers;
  /** When this signal aborts, reading stops and throws the signal's reason, which must be an error. */
  readonly signal?: AbortSignal;
  /** The memory that all bodies being read share. `take` throws when too few bytes are left. */
  readonly room?: { take(bytes: number): void; give(bytes: number): void };
}

/**
 * Reads the raw bytes of the body. Throws the error that `refuse` creates: 413 (too large), 408 (too slow), or 400 (the
 * body is incomplete).
 */
export async function readBody(request: Request, bounds: BodyBounds, refuse: RefuseBody): Promise<Uint8Array> {
  const { longest, withinMs, clock = systemTimers, signal, room } = bounds;
  if (Number(request.headers.get('content-length') ?? 0) > longest) throw tooLong(longest, refuse);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  let ended: Error | undefined;
  const end = (why: Error) => {
    ended ??= why;
    reader.cancel().catch(() => undefined);
  };
  const callOff = clock.after(withinMs, () => end(tooSlow(withinMs, refuse)));
  signal?.addEventListener('abort', () => end(signal.reason), { once: true });
  const brokenOff = () => {
    throw refuse(400, 'The body of the request broke off.');
  };
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(brokenOff);
      if (ended !== undefined) throw ended;
      if (done) return Buffer.concat(pieces, length);
      if (length + value.length > longest) throw tooLong(longest, refuse);
      room?.take(value.length);
      length += value.length;
      pieces.push(value);
    }
  } finally {
    room?.give(length);
    callOff();
  }
}

/** Parses the body as JSON. If it is not JSON, throws the error that `refuse` creates (400). */
export function parseJson(bytes: Uint8Array, refuse: RefuseBody): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuse(400, 'The body of the request is not JSON in UTF-8.');
  }
}

/** Throws the error that `refuse` creates (415) unless the content type is JSON. */
export function checkJsonType({ headers }: Request, refuse: RefuseBody): void {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return;
  throw refuse(415, `The body of the request must be application/json, not ${type.trim() || 'of no type'}.`, closing);
}

/** The header that closes the connection. Without it, the unread rest of the body would be read as the next request. */
const closing = { Connection: 'close' };

function tooLong(longest: number, refuse: RefuseBody): Error {
  return refuse(413, `The body of the request is longer than the ${longest} bytes allowed here.`, closing);
}

function tooSlow(withinMs: number, refuse: RefuseBody): Error {
  return refuse(408, `The body of the request did not come within ${withinMs} ms.`, closing);
}
