/**
 * Sends server-sent events to one reader.
 *
 * 1. A slow reader costs a bounded queue and nothing more: it gets bytes when it asks for them, never before.
 * 2. The queue decides which events may wait. When it has no room for an event that must arrive, the stream breaks.
 * 3. Each action of `onOver` is called once, whichever side ended the stream: nothing is left behind for a reader that
 *    is gone.
 * 4. A comment every `beatMs` keeps a quiet connection open.
 */
import { systemTimers, type Timers } from './timers.ts';

/** Bytes that wait for a reader, in order. `Kind` is the kind under which lost events are counted. */
export interface StreamQueue<Kind> {
  readonly isEmpty: boolean;
  /** Takes an event, and drops older ones that may be lost. Returns false when there is no room for this one. */
  offer(bytes: Uint8Array, kind: Kind | undefined): boolean;
  /** Writes until the reader takes no more. */
  pump(): void;
  /** Drops all waiting bytes, because the reader is gone. */
  clear(): void;
}

/** Returns the number of bytes taken: all of them, 0 while the reader wants no more, -1 when it is gone. */
export type WriteBytes = (bytes: Uint8Array) => number;

export interface EventStreamDeps<Kind> {
  /** Aborts when the client is gone, even before it began to read. */
  readonly left?: AbortSignal;
  readonly beatMs?: number;
  /** The system's timers when absent. */
  readonly clock?: Timers;
  /** Makes the queue; when absent, a queue that loses nothing and is bounded by its bytes. */
  readonly queue?: (write: WriteBytes) => StreamQueue<Kind>;
}

/** Bytes handed over each time the reader asks; one event may go beyond it. */
const HELPING = 65_536;
const BEAT_MS = 15_000;

export class EventStream<Kind = never> {
  readonly #queue: StreamQueue<Kind>;
  readonly #clock: Timers;
  readonly #beatMs: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Bytes that the reader has asked for and not received. */
  #wanted = 0;
  #state: 'open' | 'ending' | 'over' = 'open';
  readonly #whenOver: (() => void)[] = [];
  #callOffBeat: () => void = () => undefined;

  constructor({ left, beatMs = BEAT_MS, clock = systemTimers, queue = boundedQueue }: EventStreamDeps<Kind> = {}) {
    this.#queue = queue((bytes) => this.#write(bytes));
    this.#clock = clock;
    this.#beatMs = beatMs;
    if (left === undefined) return;
    const leave = () => this.#leave();
    left.addEventListener('abort', leave, { once: true });
    this.onOver(() => left.removeEventListener('abort', leave));
    if (left.aborted) leave();
  }

  /** Calls the action when the stream is over; at once if it is over already. */
  onOver(action: () => void): void {
    if (this.#state === 'over') action();
    else this.#whenOver.push(action);
  }

  /** Makes the response. May be called once. */
  response(headers: Readonly<Record<string, string>> = {}): Response {
    if (this.#state === 'open') this.#armBeat();
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          if (this.#state === 'over') controller.error(behind());
        },
        pull: () => {
          this.#wanted = HELPING;
          this.#pump();
        },
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
    const own = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };
    return new Response(body, { headers: { ...own, ...headers } });
  }

  /** Sends an event. `kind` is given when the event may be lost. Does nothing once the stream is ending. */
  send(bytes: Uint8Array, kind?: Kind): void {
    if (this.#state !== 'open' || this.#queue.offer(bytes, kind)) return;
    this.#leave();
    this.#controller?.error(behind());
  }

  /** Ends the stream when the reader has everything; `last` is the last event. */
  end(last?: Uint8Array): void {
    if (last !== undefined) this.send(last);
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#callOffBeat();
    this.#pump();
  }

  #write(bytes: Uint8Array): number {
    if (this.#state === 'over') return -1;
    if (this.#wanted <= 0 || this.#controller === undefined) return 0;
    this.#wanted -= bytes.length;
    this.#controller.enqueue(bytes);
    return bytes.length;
  }

  #pump(): void {
    this.#queue.pump();
    if (this.#state !== 'ending' || !this.#queue.isEmpty || this.#controller === undefined) return;
    this.#over();
    this.#controller.close();
  }

  #leave(): void {
    this.#over();
    this.#queue.clear();
  }

  #over(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#callOffBeat();
    for (const action of this.#whenOver.splice(0)) action();
  }

  /** Starts the timer for the next comment, only while the reader waits: otherwise it has something to read. */
  #armBeat(): void {
    this.#callOffBeat = this.#clock.after(this.#beatMs, () => {
      if (this.#wanted > 0) this.send(beat);
      this.#armBeat();
    });
  }
}

/** Encodes an event. `data` becomes JSON, and a text stays unchanged; some protocols have no `event`. */
export function encodeEvent(data: unknown, event?: string): Uint8Array {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return encoder.encode(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
}

/** A queue that loses nothing; it has no room for more than `most` bytes. */
export function boundedQueue(write: WriteBytes, most = 4_000_000): StreamQueue<unknown> {
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const pump = () => {
    for (let [first] = waiting; first !== undefined && write(first) > 0; [first] = waiting) {
      waiting.shift();
      waitingBytes -= first.length;
    }
  };
  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    offer(bytes) {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      pump();
      return waitingBytes <= most;
    },
    pump,
    clear: () => void waiting.splice(0),
  };
}

const encoder = new TextEncoder();
const beat = encoder.encode(':\n\n');

function behind(): Error {
  return new Error('The reader does not keep up.');
}
