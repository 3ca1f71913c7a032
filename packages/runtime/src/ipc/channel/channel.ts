/**
 * One channel between two processes. Messages arrive in order. They are checked, and their size and rate are limited.
 *
 * 1. A sent message may get lost. Only an answer that the other side sends after a durable write proves delivery (see
 *    ../pending-answers.ts).
 * 2. No incoming bytes can cause an exception: a malformed or too long frame is rejected with a code, reported to
 *    `onRefused`, and closes the channel. A message is missing from then on, and somebody may wait for it. So at both ends
 *    the child process ends: the orchestrator serves others, and the crash rule knows what to do for the child.
 * 3. `onClose` is called once, after the last message.
 */
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import type { Codec, LossyKind } from '../codec.ts';
import { type ChannelLimits, channelLimits } from '../limits.ts';
import { type FrameFiles, tooLong } from './frame-files.ts';
import { FrameSplitter } from './frame-splitter.ts';
import { ReceiveRate } from './receive-rate.ts';
import { SendQueue } from './send-queue.ts';
import type { OpenWire, Wire } from './wire.ts';

export interface ChannelDeps<Out, In> {
  readonly wire: OpenWire;
  readonly codec: Codec<Out, In>;
  readonly files: FrameFiles;
  readonly limits?: Partial<ChannelLimits>;
  readonly clock?: Clock;
}

/** One end of a channel, as the code of a process uses it: a real one, or a seat's part of a shared one. */
export type ChannelEnd<Out, In> = Pick<
  Channel<Out, In>,
  'send' | 'onMessage' | 'onRefused' | 'onClose' | 'close' | 'closeAfterFlush' | 'isClosed'
>;

export class Channel<Out, In> {
  isClosed = false;
  private readonly codec: Codec<Out, In>;
  private readonly files: FrameFiles;
  private readonly limits: ChannelLimits;
  private readonly clock: Clock;
  private readonly wire: Wire;
  private readonly queue: SendQueue;
  private readonly splitter: FrameSplitter;
  private readonly rate: ReceiveRate;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private readonly messageListeners = new Set<(message: In) => void>();
  private readonly refusedListeners = new Set<(error: GoondanError) => void>();
  private readonly closeListeners = new Set<() => void>();
  private readonly unread: Uint8Array[] = [];
  /** True while reading is paused, because too much arrived at once. Reading continues when a timer fires. */
  private resting = false;
  private wireClosed = false;

  constructor({ wire, codec, files, limits, clock = systemClock }: ChannelDeps<Out, In>) {
    this.codec = codec;
    this.files = files;
    this.limits = { ...channelLimits, ...limits };
    this.clock = clock;
    this.splitter = new FrameSplitter(this.limits.longestFrame);
    this.rate = new ReceiveRate(this.limits, clock.elapsed());
    this.queue = new SendQueue({
      limits: this.limits,
      write: (bytes) => this.wire.write(bytes),
      later: afterThisTick,
      noteFor: (counts) => {
        const note = codec.dropped(counts);
        return note === undefined ? undefined : toLine(codec.encode(note));
      },
    });
    this.wire = wire({
      data: (chunk) => {
        this.unread.push(chunk);
        this.read();
      },
      drain: () => this.queue.pump(),
      closed: () => {
        this.wireClosed = true;
        this.queue.fail(closedError());
        this.read();
      },
    });
  }

  /**
   * Sends a message. Resolves when the operating system has the message: it then arrives even if this process exits,
   * unless the other process has exited. Messages of one tick are written together at its end. A log line is written at
   * once with everything before it, because code that follows it may block or end the process.
   *
   * **Rules** — messages arrive in the order of the calls. `delta`, `log` and `runtime.event` may be dropped when the
   * other side is too slow. The promise resolves for a dropped message, too, and the other side gets a `dropped`
   * message with the counts.
   * **Errors** — `E_IPC_CLOSED`, `E_IPC_FULL` (retryable), `E_IPC_FRAME`, `E_IPC_SIZE`; `E_DISK_FULL` or
   * `E_STORE_WRITE` when the message is too long for a frame and the disk fails. A message that may be dropped can fail
   * only with `E_IPC_FRAME`.
   */
  async send(message: Out): Promise<void> {
    const line = toLine(this.codec.encode(message));
    const lossy = this.codec.lossyKindOf(message);
    if (lossy !== undefined) return this.sendLossy(line, lossy);
    if (this.isClosed || this.wireClosed) throw closedError();
    const { longestFrame, longestFile } = this.limits;
    if (line.length > longestFile) throw tooLong(line.length, longestFile);
    this.queue.checkRoom(line.length);
    if (line.length <= longestFrame) return this.queue.push(line, line.length, undefined);
    // The file has the frame alone, as it comes out of the splitter: the line break belongs to the wire.
    const file = this.files.store(line.subarray(0, -1));
    return this.queue.push(toLine(JSON.stringify({ file })), line.length, undefined);
  }

  /** Adds a listener. Reading starts with the first listener. Returns a function that removes the listener. */
  onMessage(listener: (message: In) => void): () => void {
    this.messageListeners.add(listener);
    if (!this.resting && !this.isClosed) {
      this.wire.resume();
      this.read();
    }
    return () => void this.messageListeners.delete(listener);
  }

  /** Calls the listener with the error of a rejected frame, before the channel closes. */
  onRefused(listener: (error: GoondanError) => void): void {
    this.refusedListeners.add(listener);
  }

  /**
   * Adds a listener that is called once, when the channel closes. If the channel is already closed, the listener is
   * called at once.
   */
  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.closeListeners.add(listener);
  }

  /** Writes the messages of this tick now, as far as the operating system takes them. Call it before the process exits. */
  flush(): void {
    if (!this.isClosed && !this.wireClosed) this.queue.flush();
  }

  /**
   * Closes the channel at once. The promises of queued messages are rejected, and messages that arrive later are
   * ignored.
   */
  close(): void {
    if (this.isClosed) return;
    this.flush();
    this.isClosed = true;
    this.unread.length = 0;
    this.wire.end();
    this.queue.fail(closedError());
    for (const listener of [...this.closeListeners]) tell(listener, undefined);
  }

  /** Closes the channel when the operating system has all queued messages. */
  async closeAfterFlush(): Promise<void> {
    this.flush();
    await this.queue.empty();
    this.close();
  }

  private async sendLossy(line: Uint8Array, kind: LossyKind): Promise<void> {
    if (this.isClosed || this.wireClosed) return;
    if (line.length > this.limits.longestFrame) return this.queue.drop(kind);
    const sent = this.queue.push(line, line.length, kind);
    if (kind === 'log') this.queue.flush();
    return sent;
  }

  private read(): void {
    // Without a listener, messages stay unread, and the other side has to wait.
    if (this.messageListeners.size === 0 && this.unread.length > 0) return this.wire.pause();
    while (!this.resting && !this.isClosed) {
      const frame = this.splitter.next();
      if (frame !== undefined) {
        this.admit(frame);
        this.pace(1, 0);
        continue;
      }
      const chunk = this.unread.shift();
      if (chunk === undefined) break;
      this.splitter.push(chunk);
      this.pace(1, chunk.length);
    }
    if (this.wireClosed && !this.resting) this.close();
  }

  private pace(frames: number, bytes: number): void {
    const waitMs = this.rate.take(frames, bytes, this.clock.elapsed());
    if (waitMs === 0 || this.resting) return;
    this.resting = true;
    this.wire.pause();
    this.clock.after(waitMs, () => {
      this.resting = false;
      this.read();
      if (!this.resting) this.wire.resume();
    });
  }

  private admit(frame: Uint8Array | 'too long'): void {
    try {
      if (frame === 'too long') {
        throw new GoondanError('E_IPC_SIZE', `A frame is longer than ${this.limits.longestFrame} bytes.`);
      }
      const message = this.codec.decode(this.resolve(this.toText(frame)));
      for (const listener of [...this.messageListeners]) tell(listener, message);
    } catch (error) {
      this.refuse(
        GoondanError.is(error) ? error : new GoondanError('E_IPC_FRAME', 'A frame cannot be read.', { cause: error }),
      );
    }
  }

  /** Returns the message: the frame itself, or the contents of the file that the frame names. */
  private resolve(frame: string): string {
    const name = frame.startsWith(FILE_REFERENCE) ? fileReference.exec(frame)?.[1] : undefined;
    if (name === undefined) return frame;
    const message = this.files.take(name, this.limits.longestFile);
    this.pace(0, message.length);
    return this.toText(message);
  }

  private toText(bytes: Uint8Array): string {
    try {
      return this.decoder.decode(bytes);
    } catch (error) {
      throw new GoondanError('E_IPC_FRAME', 'A frame is not UTF-8.', { cause: error });
    }
  }

  private refuse(error: GoondanError): void {
    for (const listener of [...this.refusedListeners]) tell(listener, error);
    this.close();
  }
}

/**
 * The beginning of a frame that names a file with the message. No message begins like this, because each has a `type`.
 */
const FILE_REFERENCE = '{"file":';
const fileReference = /^\{"file":"([^"\\]{1,100})"\}$/;

/** Read once, at the start, because bundle code may replace the global function. */
const immediately = setImmediate;

function afterThisTick(write: () => void): void {
  immediately(write);
}

/** Makes a line from a frame. The frame contains no line break, because JSON escapes line breaks. */
function toLine(frame: string): Uint8Array {
  return Buffer.from(`${frame}\n`);
}

/**
 * Calls a listener. If the listener throws, the error is thrown again later, so that the other listeners are still
 * called.
 */
function tell<Value>(listener: (value: Value) => void, value: Value): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function closedError(): GoondanError {
  return new GoondanError('E_IPC_CLOSED', 'The other process has exited, or this channel was closed.');
}
