/**
 * Sends server-sent events to one reader.
 *
 * 1. A slow reader takes at most the memory of one bounded queue, because the stream passes on bytes only when the
 *    reader asks for them.
 * 2. The queue decides which events may wait. If it has no room for an event that must not be lost, the stream is
 * aborted.
 * 3. Each `onOver` action is called once, no matter which side ends the stream. So nothing leaks when the reader
 *    disconnects.
 * 4. A comment every `beatMs` keeps an idle connection open.
 */
import { systemTimers, type Timers } from './timers.ts';

/**
 * The queue of bytes to send to a reader, in order. `Kind` is the type of the event kinds, under which dropped events
 * are counted.
 */
export interface StreamQueue<Kind> {
  readonly isEmpty: boolean;
  /** Adds an event, and may drop older events to make room. Returns false when there is no room for this event. */
  offer(bytes: Uint8Array, kind: Kind | undefined): boolean;
  /** Writes until the reader accepts no more bytes. */
  pump(): void;
  /** Drops all queued bytes, because the reader disconnected. */
  clear(): void;
}

/**
 * Writes bytes to the reader. Returns the number of bytes written: all of them, 0 while the reader accepts no more, or
 * -1 when the reader has disconnected.
 */
export type WriteBytes = (bytes: Uint8Array) => number;

export interface EventStreamDeps<Kind> {
  /** Aborts when the client disconnects, even before the client began to read. */
  readonly left?: AbortSignal;
  readonly beatMs?: number;
  /** The timers to use; the system's timers when absent. */
  readonly clock?: Timers;
  /** Creates the queue. When absent, the stream uses a queue that drops nothing and is limited in bytes. */
  readonly queue?: (write: WriteBytes) => StreamQueue<Kind>;
}

/** The number of bytes passed on each time the reader asks for bytes; a single event may exceed it. */
const HELPING = 65_536;
const BEAT_MS = 15_000;

export class EventStream<Kind = never> {
  readonly #queue: StreamQueue<Kind>;
  readonly #clock: Timers;
  readonly #beatMs: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The number of bytes that the reader has requested but not received. */
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

  /** Calls `action` when the stream ends, or at once if it has already ended. */
  onOver(action: () => void): void {
    if (this.#state === 'over') action();
    else this.#whenOver.push(action);
  }

  /** Creates the HTTP response. Call it only once. */
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

  /** Sends an event. Pass `kind` if the event may be dropped. Does nothing when the stream is ending. */
  send(bytes: Uint8Array, kind?: Kind): void {
    if (this.#state === 'open' && !this.#queue.offer(bytes, kind)) this.cutOff();
  }

  /** Aborts the stream, because its reader does not keep up. Drops what is queued. */
  cutOff(): void {
    this.#leave();
    this.#controller?.error(behind());
  }

  /** Ends the stream after everything in the queue is sent, with `last` as the last event. */
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

  /**
   * Starts the timer for the next comment, which keeps an idle connection open. A comment is sent only while the reader
   * waits for bytes.
   */
  #armBeat(): void {
    this.#callOffBeat = this.#clock.after(this.#beatMs, () => {
      if (this.#wanted > 0) this.send(beat);
      this.#armBeat();
    });
  }
}

/**
 * Encodes an event. `data` is encoded as JSON, but a string stays unchanged. Leave out `event` for protocols without
 * event names.
 */
export function encodeEvent(data: unknown, event?: string): Uint8Array {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return encoder.encode(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`);
}

/** A queue that drops nothing. It accepts no more events when it holds `most` bytes. */
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
