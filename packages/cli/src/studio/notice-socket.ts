/**
 * Notices on their way to one page, over a WebSocket: a browser has only six connections for all that its pages ask of one
 * server, and a stream that is one of them would leave the seventh page waiting for ever. WebSockets are not counted there.
 *
 * 1. What waits for a page that does not read is bounded: of what may be lost the oldest goes, and the page is told how many.
 * 2. What must arrive waits; when too much of it does, the page is beyond help and its socket is closed.
 * 3. `left` aborts once, whoever ended it.
 */
import { type LossyKind, SendQueue } from '@goondan/runtime/internal';

/** What a server has of it. */
export interface PageSocket {
  /** 0: it is gone. Less: what is sent waits, until it is drained. */
  sendText(text: string): number;
  close(code?: number, reason?: string): void;
}

const MEGABYTE = 1_000_000;
const limits = { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE };
/** As RFC 6455 has them. */
const TRY_AGAIN_LATER = 1013;
const SAYS_SOMETHING = 1008;

export class NoticeSocket {
  readonly #start: (stream: NoticeSocket) => void;
  readonly #left = new AbortController();
  readonly #queue: SendQueue;
  #socket: PageSocket | undefined;
  #isFull = false;

  /** `start` is called when the page is there. */
  constructor(start: (stream: NoticeSocket) => void) {
    this.#start = start;
    this.#queue = new SendQueue({
      limits,
      write: (bytes) => this.#write(bytes),
      noteFor: (counts) => encode({ type: 'dropped', count: counts.delta + counts.log + counts['runtime.event'] }),
    });
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  tell(notice: object, lossy: LossyKind | undefined): void {
    if (this.left.aborted) return;
    if (!this.#queue.offer(encode(notice), lossy)) this.refuse('This page does not keep up.');
  }

  /** The page is told why, and may come again. */
  refuse(reason: string): void {
    this.#socket?.close(TRY_AGAIN_LATER, reason);
    this.closed();
  }

  opened(socket: PageSocket): void {
    this.#socket = socket;
    this.#start(this);
  }

  drained(): void {
    this.#isFull = false;
    this.#queue.pump();
  }

  /** A page has nothing to say here. */
  heard(): void {
    this.#socket?.close(SAYS_SOMETHING, 'Nothing is taken here.');
    this.closed();
  }

  closed(): void {
    this.#socket = undefined;
    this.#left.abort();
    this.#queue.clear();
  }

  #write(bytes: Uint8Array): number {
    if (this.#socket === undefined) return -1;
    if (this.#isFull) return 0;
    this.#isFull = this.#socket.sendText(decoder.decode(bytes)) <= 0;
    return bytes.length;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function encode(notice: object): Uint8Array {
  return encoder.encode(JSON.stringify(notice));
}
