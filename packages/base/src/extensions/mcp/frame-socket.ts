/**
 * One end of a socket that carries lines of JSON. Everything is bounded: a line that is too long, and a reader that is
 * too slow, end the socket.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { LONGEST_FRAME, parseFrame } from './kept-frames.ts';
import { LineReader } from './line-reader.ts';

/** The maximum number of bytes that wait for a slow reader. */
const MOST_WAITING = 4 * LONGEST_FRAME;

export interface FrameEvents {
  /** Called with each message. */
  onFrame(frame: JsonValue): void;
  /** Called once, when the socket is closed by the other side, or because of a problem on this side. */
  onClosed(problem: string): void;
}

export class FrameSocket {
  readonly #lines = new LineReader(LONGEST_FRAME);
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(
    private readonly socket: Bun.Socket<unknown>,
    private readonly events: FrameEvents,
  ) {}

  /** Returns false, and sends nothing, if the message is too long: the other side would end the socket. */
  send(frame: JsonObject): boolean {
    if (this.#isOver) return true;
    const text = JSON.stringify(frame);
    if (text.length > LONGEST_FRAME) return false;
    const bytes = Buffer.from(`${text}\n`);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.drain();
    if (this.#waitingBytes > MOST_WAITING) this.cutOff('it does not read its answers');
    return true;
  }

  /** Writes as much as the socket accepts. */
  drain(): void {
    for (let [next] = this.#waiting; next !== undefined && !this.#isOver; [next] = this.#waiting) {
      const written = this.socket.write(next);
      if (written < 0) return;
      this.#waitingBytes -= written;
      if (written < next.length) {
        this.#waiting[0] = next.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
  }

  receive(chunk: Uint8Array): void {
    for (const line of this.#lines.push(chunk)) {
      if (this.#isOver) return;
      const frame = parseFrame(line);
      if (frame === undefined) return this.cutOff('it sent a line that is not JSON');
      this.events.onFrame(frame);
    }
    if (this.#lines.isTooLong) this.cutOff(`it sent a message of more than ${LONGEST_FRAME} characters`);
  }

  /** Closes the socket, and reports the problem. */
  cutOff(problem: string): void {
    if (this.#isOver) return;
    this.close();
    this.events.onClosed(problem);
  }

  /** Called when the other side has closed the socket. */
  closed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.events.onClosed('');
  }

  /** Closes the socket without a report. */
  close(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.socket.terminate();
  }
}
