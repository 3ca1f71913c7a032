/**
 * The channel of one conversation in a shared process: the part of the process's channel that belongs to its seat. Both
 * ends use it. The owner of the process's channel delivers the messages of the seat, and says when the seat has ended.
 */
import { GoondanError } from '@goondan/types';
import type { ChannelEnd } from './channel/channel.ts';

export class SeatChannel<Out, In> implements ChannelEnd<Out, In> {
  isClosed = false;
  readonly #listeners = new Set<(message: In) => void>();
  readonly #closeListeners = new Set<() => void>();

  /** `send` sends a message of this seat; see `Channel.send`. */
  constructor(private readonly sendSeated: (message: Out) => Promise<void>) {}

  async send(message: Out): Promise<void> {
    if (this.isClosed) throw new GoondanError('E_IPC_CLOSED', 'The conversation was closed in its shared process.');
    return this.sendSeated(message);
  }

  /** Passes a message of the other side on. Messages that arrive before the first listener are lost. */
  deliver(message: In): void {
    if (this.isClosed) return;
    for (const listener of [...this.#listeners]) listener(message);
  }

  onMessage(listener: (message: In) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onRefused(): void {
    // The owner of the process's channel reports rejected frames: such a frame may name no seat.
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners.add(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of [...this.#closeListeners]) listener();
    this.#listeners.clear();
    this.#closeListeners.clear();
  }

  /** Closes at once: messages that were sent before stay in the channel of the process, in order. */
  async closeAfterFlush(): Promise<void> {
    this.close();
  }
}
