/**
 * One stream of a command: its beginning and its end for the model, and when that is not all of it, the stream in a file.
 * Both are bounded, however much is printed; what is past the bound of the file is only counted.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { hideValues, type ValueHider } from './hide-values.ts';
import { safeText } from '../../text/safe-text.ts';

export interface CollectOptions {
  /** Bytes that the model gets: half of them from the beginning, half from the end. */
  readonly shownBytes: number;
  /** Bytes that go into the file. */
  readonly spilledBytes: number;
  /** Values that are replaced, for the model and in the file. */
  readonly hidden: readonly string[];
  /** The path for a file, when one is needed. */
  readonly newFile: () => string;
}

export interface CollectedOutput {
  readonly text: string;
  /** The bytes of the whole stream. */
  readonly bytes: number;
  /** Where the stream is, when the text is not all of it. */
  readonly file?: string;
}

export class OutputCollector {
  readonly #options: CollectOptions;
  readonly #hider: ValueHider;
  #bytes = 0;
  /** The first `shownBytes`. */
  #start = Buffer.alloc(0);
  /** The last half of `shownBytes`. */
  #end = Buffer.alloc(0);
  #file: { readonly path: string; readonly descriptor: number } | undefined;
  #spilled = 0;

  constructor(options: CollectOptions) {
    this.#options = options;
    this.#hider = hideValues(options.hidden);
  }

  /** Until the stream ends, or `signal` aborts. */
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
    return Math.floor(this.#options.shownBytes / 2);
  }

  #add(chunk: Buffer<ArrayBuffer>): void {
    if (chunk.length === 0) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.shownBytes) this.#spill(chunk);
    const room = this.#options.shownBytes - this.#start.length;
    if (room > 0) this.#start = Buffer.concat([this.#start, chunk.subarray(0, room)]);
    this.#end = lastOf(Buffer.concat([this.#end, lastOf(chunk, this.#half)]), this.#half);
  }

  #spill(chunk: Buffer): void {
    if (this.#file === undefined) {
      const path = this.#options.newFile();
      this.#file = { path, descriptor: openSync(path, 'wx', 0o600) };
      // Everything so far: what was longer went into a file before.
      this.#write(this.#start);
    }
    this.#write(chunk);
  }

  #write(bytes: Buffer): void {
    const fitting = bytes.subarray(0, this.#options.spilledBytes - this.#spilled);
    if (this.#file === undefined || fitting.length === 0) return;
    writeSync(this.#file.descriptor, fitting);
    this.#spilled += fitting.length;
  }

  #text(): string {
    if (this.#bytes <= this.#options.shownBytes) return toText(this.#start);
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

/** A character of several bytes begins with one that is no continuation. */
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

/** Invalid UTF-8 becomes �. */
function toText(bytes: Buffer): string {
  return safeText(new TextDecoder().decode(bytes));
}
