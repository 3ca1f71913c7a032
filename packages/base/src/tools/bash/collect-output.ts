/**
 * Collects one output stream of a command. The model gets the beginning and the end. If that is not the whole stream,
 * the stream is also saved in a file. Both sizes are limited. Bytes beyond the limit of the file are only counted.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { hideValues } from './hide-values.ts';
import { safeText } from '../../text/safe-text.ts';

export interface CollectOptions {
  /** The maximum number of bytes for the model: half from the beginning, half from the end. */
  readonly shownBytes: number;
  /** The maximum number of bytes in the file. */
  readonly spilledBytes: number;
  /** Secret values, which are masked for the model and in the file. */
  readonly hidden: readonly string[];
  /** Returns the path of a new file. Called only if a file is needed. */
  readonly newFile: () => string;
}

export interface CollectedOutput {
  readonly text: string;
  /** The size of the whole stream in bytes. */
  readonly bytes: number;
  /** The file that contains the stream, if `text` is only a part of it. */
  readonly file?: string;
}

export class OutputCollector {
  readonly #hider: ReturnType<typeof hideValues>;
  #bytes = 0;
  /** The first `shownBytes` bytes of the stream. */
  #start = Buffer.alloc(0);
  /** The last bytes of the stream: half as many as `shownBytes`. */
  #end = Buffer.alloc(0);
  #file: { readonly path: string; readonly descriptor: number } | undefined;
  #spilled = 0;

  constructor(private readonly options: CollectOptions) {
    this.#hider = hideValues(options.hidden);
  }

  /** Reads until the stream ends, or `signal` aborts. */
  async read(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const reader = stream.getReader();
    const stop = () => void reader.cancel().catch(() => undefined);
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        this.#add(this.#hider.push(next.value));
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  finish(): CollectedOutput {
    this.#add(this.#hider.end());
    const isBinary = this.#start.includes(0);
    if (isBinary) this.#spill(Buffer.alloc(0));
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    const file = this.#file?.path;
    const text = isBinary ? `[binary output of ${this.#bytes} bytes; ${this.#whereItIs()}]` : this.#text();
    return { text, bytes: this.#bytes, ...(file === undefined ? {} : { file }) };
  }

  get #half(): number {
    return Math.floor(this.options.shownBytes / 2);
  }

  #add(chunk: Buffer<ArrayBuffer>): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.options.shownBytes) this.#spill(chunk);
    const room = this.options.shownBytes - this.#start.length;
    if (room > 0) this.#start = Buffer.concat([this.#start, chunk.subarray(0, room)]);
    this.#end = lastOf(Buffer.concat([this.#end, lastOf(chunk, this.#half)]), this.#half);
  }

  #spill(chunk: Buffer): void {
    if (this.#file === undefined) {
      const path = this.options.newFile();
      this.#file = { path, descriptor: openSync(path, 'wx', 0o600) };
      // `#start` holds everything received before this chunk, because a longer stream would already have a file.
      this.#write(this.#start);
    }
    this.#write(chunk);
  }

  #write(bytes: Buffer): void {
    const fitting = bytes.subarray(0, this.options.spilledBytes - this.#spilled);
    if (this.#file === undefined || fitting.length === 0) return;
    writeSync(this.#file.descriptor, fitting);
    this.#spilled += fitting.length;
  }

  #text(): string {
    if (this.#bytes <= this.options.shownBytes) return toText(this.#start);
    const head = withoutCutEnd(this.#start.subarray(0, this.#half));
    const tail = withoutCutStart(this.#end);
    const left = this.#bytes - head.length - tail.length;
    return `${toText(head)}\n[… ${left} of ${this.#bytes} bytes left out; ${this.#whereItIs()} …]\n${toText(tail)}`;
  }

  #whereItIs(): string {
    const part = this.#spilled < this.#bytes ? `the first ${this.#spilled} bytes are` : 'all of it is';
    return `${part} in ${this.#file?.path ?? ''}`;
  }
}

function lastOf(bytes: Buffer<ArrayBuffer>, count: number): Buffer<ArrayBuffer> {
  return bytes.subarray(Math.max(0, bytes.length - count));
}

/** Returns true if a byte continues a UTF-8 character. */
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function withoutCutStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < 4 && isContinuation(bytes[from])) from += 1;
  return bytes.subarray(from);
}

function withoutCutEnd(bytes: Buffer): Buffer {
  let last = bytes.length - 1;
  while (bytes.length - last < 4 && isContinuation(bytes[last])) last -= 1;
  const first = bytes[last] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return last + length > bytes.length ? bytes.subarray(0, last) : bytes;
}

/** Decodes UTF-8; invalid bytes become �. */
function toText(bytes: Buffer): string {
  return safeText(new TextDecoder().decode(bytes));
}
