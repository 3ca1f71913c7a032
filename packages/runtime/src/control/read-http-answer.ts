/** Reads one HTTP/1.1 answer from a connection: its status, and its body as a stream. */
import { notUnderstood } from './read-answer.ts';

/** The maximum length of the status line with all headers, and of the line before a chunk, in bytes. */
const LONGEST_HEAD = 65_536;
const LONGEST_LINE = 1_024;

/**
 * Resolves when the headers are read. The body ends with the answer, and throws if the connection breaks off before.
 * Cancelling the body ends the connection. **Errors** — `E_CONTROL_ANSWER` for anything that is not HTTP, and those of
 * the connection.
 */
export async function readHttpAnswer(connection: AsyncIterable<Uint8Array>): Promise<Response> {
  const input = new Input(connection[Symbol.asyncIterator]());
  const [first = '', ...lines] = (await input.readUntil('\r\n\r\n', LONGEST_HEAD)).split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(first)?.[1]);
  if (Number.isNaN(status)) throw notUnderstood('without the status of HTTP/1.1');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return new Response(status === 204 ? null : toStream(readBody(input, headers), input), { status });
}

/** Yields the body by its chunks, by its length, or up to the end of the connection. */
async function* readBody(input: Input, headers: ReadonlyMap<string, string>): AsyncGenerator<Uint8Array> {
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') {
    for (;;) {
      const line = await input.readUntil('\r\n', LONGEST_LINE);
      const size = /^[0-9a-fA-F]{1,8}(?=;|$)/.exec(line)?.[0];
      if (size === undefined) throw notUnderstood('with a chunk without a size');
      if (/^0+$/.test(size)) return;
      yield* input.read(Number.parseInt(size, 16));
      if ((await input.readUntil('\r\n', LONGEST_LINE)) !== '') throw notUnderstood('with a chunk of another size');
    }
  }
  const length = headers.get('content-length');
  if (length === undefined) return yield* input.readAll();
  if (!/^\d{1,15}$/.test(length)) throw notUnderstood('with a length that is not a number');
  yield* input.read(Number(length));
}

/** The bytes of a connection, of which at most one piece is kept. */
class Input {
  #rest: Buffer = Buffer.alloc(0);

  constructor(private readonly pieces: AsyncIterator<Uint8Array>) {}

  /** Returns the text before the mark, and skips the mark. */
  async readUntil(mark: string, longest: number): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf(mark);
      if (at >= 0) {
        const text = this.#rest.toString('latin1', 0, at);
        this.#rest = this.#rest.subarray(at + mark.length);
        return text;
      }
      if (this.#rest.length > longest) throw notUnderstood(`more than ${longest} bytes of headers`);
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    }
  }

  /** Yields this number of bytes. */
  async *read(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** Yields everything up to the end of the connection. */
  async *readAll(): AsyncGenerator<Uint8Array> {
    if (this.#rest.length > 0) yield this.#rest;
    for (let next = await this.pieces.next(); next.done !== true; next = await this.pieces.next()) yield next.value;
  }

  /** Ends the connection. */
  async end(): Promise<void> {
    await this.pieces.return?.();
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.pieces.next();
    if (done === true) throw Object.assign(new Error('The answer broke off.'), { code: 'ECONNRESET' });
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function toStream(body: AsyncGenerator<Uint8Array>, input: Input): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await body.next();
      if (done !== true) return controller.enqueue(value);
      controller.close();
      await input.end();
    },
    cancel: () => input.end(),
  });
}
