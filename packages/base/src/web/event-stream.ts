/**
 * Server-sent events for one reader.
 *
 * Invariants:
 * 1. The reader is given bytes when it asks for them; what waits for it is bounded, and past the bound its stream breaks.
 * 2. `left` is called once, when the reader is gone before the end; never after `end`.
 * 3. A comment every `BEAT_MS` keeps what stands in between from closing a quiet connection.
 */
export interface EventStreamOptions {
  /** The reader is gone. */
  readonly left: () => void;
  readonly mostWaiting?: number;
  readonly beatMs?: number;
}

const MOST_WAITING = 4_000_000;
const BEAT_MS = 15_000;
const encoder = new TextEncoder();

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #waiting: Uint8Array[] = [];
  readonly #beat: Timer;
  #waitingBytes = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The reader has asked and not got anything yet. */
  #isAsking = false;
  #state: 'open' | 'ending' | 'over' = 'open';

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#beat = setInterval(() => this.#push(':\n\n'), options.beatMs ?? BEAT_MS);
  }

  /** `event` may be left out, as some protocols do. */
  send(data: unknown, event?: string): void {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.#push(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
  }

  /** The reader gets what waits, and then the end. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    clearInterval(this.#beat);
    this.#pump();
  }

  /** Once. */
  response(headers: Readonly<Record<string, string>> = {}): Response {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => {
          this.#isAsking = true;
          this.#pump();
        },
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, {
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        ...headers,
      },
    });
  }

  #push(text: string): void {
    if (this.#state !== 'open') return;
    const bytes = encoder.encode(text);
    this.#waitingBytes += bytes.length;
    this.#waiting.push(bytes);
    this.#pump();
    if (this.#waitingBytes <= (this.#options.mostWaiting ?? MOST_WAITING)) return;
    this.#leave();
    this.#controller?.error(new Error('The reader does not keep up.'));
  }

  #pump(): void {
    if (this.#state === 'over' || this.#controller === undefined) return;
    if (this.#isAsking && this.#waiting.length > 0) {
      this.#isAsking = false;
      const bytes = Buffer.concat(this.#waiting.splice(0), this.#waitingBytes);
      this.#waitingBytes = 0;
      this.#controller.enqueue(bytes);
    }
    if (this.#state !== 'ending' || this.#waiting.length > 0) return;
    this.#state = 'over';
    this.#controller.close();
  }

  #leave(): void {
    if (this.#state === 'over') return;
    const isEarly = this.#state === 'open';
    this.#state = 'over';
    clearInterval(this.#beat);
    this.#waiting.length = 0;
    if (isEarly) this.#options.left();
  }
}
