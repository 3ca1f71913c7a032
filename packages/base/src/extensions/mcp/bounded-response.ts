/**
 * Limits what is read from a server over HTTP, because a server can send without an end.
 *
 * 1. A message is a whole body, or one event of a stream. The body with a longer message fails, and its connection is closed.
 * 2. An error answer is cut, because its text becomes the text of an error.
 */

import { TOO_DEEP } from './complete-results.ts';

/** The maximum length of a message of a server, in bytes; of a server over stdio, in characters. A longer one ends the connection. */
export const LONGEST_MESSAGE = 32 * 1_024 * 1_024;
/** The maximum length of the body of an error answer. */
const LONGEST_ERROR = 16_000;

/** The error of a message that is too long. */
export const TOO_LONG = `it sent a message of more than ${LONGEST_MESSAGE} bytes.`;

/** Returns what was too much, if the error says so: the length of a message, or its depth, as the engine reports it, too. */
export function findExcess(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes(TOO_LONG)) return TOO_LONG;
  const isOverflow = error instanceof RangeError && message.includes('call stack');
  return isOverflow || message.includes(TOO_DEEP) ? TOO_DEEP : undefined;
}

export function boundedResponse(response: Response, longest = LONGEST_MESSAGE): Response {
  const { body, ok, status, statusText, headers } = response;
  if (body === null) return response;
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  const bounds = ok ? failBeyond(longest, isStream ? new EventLength() : new BodyLength()) : cutBeyond(LONGEST_ERROR);
  return new Response(body.pipeThrough(bounds), { status, statusText, headers });
}

type Bounds = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;

/** Counts the bytes of the message that has not ended yet. */
interface Length {
  add(chunk: Uint8Array): number;
}

function failBeyond(longest: number, length: Length): Bounds {
  return new TransformStream({
    transform(chunk, controller) {
      if (length.add(chunk) > longest) throw new Error(TOO_LONG);
      controller.enqueue(chunk);
    },
  });
}

function cutBeyond(longest: number): Bounds {
  let left = longest;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

class BodyLength implements Length {
  #bytes = 0;

  add({ length }: Uint8Array): number {
    this.#bytes += length;
    return this.#bytes;
  }
}

/** The bytes of an empty line, which ends an event: the end of a line, and that of the next one. */
const ends = ['\n\n', '\n\r', '\r\r'];

class EventLength implements Length {
  #bytes = 0;
  #last = '';

  add(chunk: Uint8Array): number {
    // The end of an event can be in two chunks.
    const text = `${this.#last}${Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')}`;
    const end = Math.max(...ends.map((each) => text.lastIndexOf(each)));
    this.#bytes = end === -1 ? this.#bytes + chunk.length : text.length - end - 2;
    this.#last = text.slice(-1);
    return this.#bytes;
  }
}
