/**
 * Sends notices to one page over a WebSocket. A browser allows only six HTTP connections to one server for all its
 * pages, so with server-sent events the seventh page would wait forever. WebSockets do not count towards this limit.
 *
 * 1. The queue for a page that does not read is limited: the oldest notices that may be lost are dropped, and the page
 *    gets the number of dropped notices.
 * 2. All other notices are queued; when there are too many, the socket is closed.
 * 3. `left` aborts once, when the connection ends, whichever side ended it.
 */
import { type LossyKind, SendQueue } from '@goondan/runtime/internal';

/** The methods of a server's socket that this class uses. */
export interface PageSocket {
  /**
   * Returns 0 when the page has disconnected, and a negative number when the text is buffered until the socket is
   * drained.
   */
  sendText(text: string): number;
  close(code?: number, reason?: string): void;
}

const MEGABYTE = 1_000_000;
const limits = { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE };
/** Status codes for closing a WebSocket (RFC 6455). */
const TRY_AGAIN_LATER = 1013;
const SAYS_SOMETHING = 1008;

export class NoticeSocket {
  readonly #left = new AbortController();
  readonly #queue: SendQueue;
  #socket: PageSocket | undefined;
  #isFull = false;

  /** `start` is called when the page is connected. */
  constructor(private readonly start: (stream: NoticeSocket) => void) {
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
    if (!this.#queue.offer(encode(notice), lossy)) this.refuse('This page reads too slowly.');
  }

  /** Closes the socket with a reason; the page may connect again. */
  refuse(reason: string): void {
    this.#socket?.close(TRY_AGAIN_LATER, reason);
    this.closed();
  }

  opened(socket: PageSocket): void {
    this.#socket = socket;
    this.start(this);
  }

  drained(): void {
    this.#isFull = false;
    this.#queue.pump();
  }

  /** Called when the page sends something. Closes the socket, because a page must not send anything. */
  heard(): void {
    this.#socket?.close(SAYS_SOMETHING, 'Studio accepts no messages here.');
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
