/**
 * Sends frames to the wire, in order.
 *
 * 1. A frame that must arrive is never dropped. When too many such frames are queued, a further one is rejected.
 * 2. A lossy frame is always accepted. When too many lossy frames are queued, the oldest is dropped, and a note with
 *    the number of dropped frames is written next.
 * 3. A frame that was partly written is always finished.
 * 4. With `later`, frames that are queued in one tick are written together, up to `LARGEST_WRITE` bytes in one write.
 *    Without it, each frame is a write of its own.
 */
import { GoondanError } from '@goondan/types';
import type { LossyKind } from '../codec.ts';
import type { ChannelLimits } from '../limits.ts';

interface Entry {
  readonly bytes: Uint8Array;
  /** The size that counts for the limits. It is more than the number of bytes if the message is in a file. */
  readonly weight: number;
  readonly lossy: LossyKind | undefined;
  /** Absent if nobody waits for the frame. */
  readonly done: PromiseWithResolvers<void> | undefined;
}

/** The memory that a queued frame takes besides its bytes; streams may have very many queued frames. */
const ENTRY_BYTES = 200;

/** The maximum size of one write of several frames, in bytes. */
const LARGEST_WRITE = 64 * 1_024;

/** One write of several items: a note about dropped frames if there is one, and then frames. */
interface Write {
  readonly bytes: Uint8Array;
  /** Each item with the offset of its end. A note has no entry. */
  readonly items: readonly { readonly entry: Entry | undefined; readonly end: number }[];
  written: number;
}

const noneDropped: Readonly<Record<LossyKind, number>> = { delta: 0, log: 0, 'runtime.event': 0 };

export class SendQueue {
  // The entries are in sets, because the oldest lossy entry must be removed cheaply from the middle of the queue.
  private readonly entries = new Set<Entry>();
  private readonly lossy = new Set<Entry>();
  private current: Write | undefined;
  private isWriteDue = false;
  private bytes = 0;
  private lossyBytes = 0;
  private dropped = noneDropped;
  private whenEmpty: (() => void)[] = [];

  constructor(
    private readonly deps: {
      readonly limits: Pick<ChannelLimits, 'mostWaiting' | 'mostWaitingBytes' | 'mostLossy' | 'mostLossyBytes'>;
      /** See {@link Wire.write}. */
      readonly write: (bytes: Uint8Array) => number;
      /** Calls `write` once, at the end of this tick. Without it, a frame is written at once. */
      readonly later?: (write: () => void) => void;
      /** Makes the bytes of a note about dropped frames. */
      readonly noteFor: (counts: Readonly<Record<LossyKind, number>>) => Uint8Array | undefined;
      /** Called when a frame that must arrive was queued. It may drop all frames. */
      readonly onQueued?: () => void;
    },
  ) {}

  /** Throws `E_IPC_FULL` if the queue has no room for a frame of this weight that must arrive. */
  checkRoom(weight: number): void {
    if (!this.hasRoom(weight)) this.flush();
    if (this.hasRoom(weight)) return;
    const waiting = this.entries.size - this.lossy.size;
    const waitingBytes = this.bytes - this.lossyBytes;
    throw new GoondanError(
      'E_IPC_FULL',
      `${waiting} messages (${waitingBytes} bytes) wait to be sent, and the other process does not read them.`,
      { retryable: true },
    );
  }

  /** The bytes that count for the limits, of all queued frames. */
  get queuedBytes(): number {
    return this.bytes;
  }

  get isEmpty(): boolean {
    return this.entries.size === 0 && this.current === undefined;
  }

  /**
   * Like `push`, for streams whose sender does not wait. Where `checkRoom` would throw, returns false and does not
   * queue the frame.
   */
  offer(bytes: Uint8Array, lossy: LossyKind | undefined): boolean {
    const weight = bytes.length + ENTRY_BYTES;
    if (lossy === undefined && !this.hasRoom(weight)) this.flush();
    if (lossy === undefined && !this.hasRoom(weight)) return false;
    this.add({ bytes, weight, lossy, done: undefined });
    return true;
  }

  /**
   * Queues a frame. Resolves when the wire has accepted the whole frame, or when the frame was dropped. Rejects when
   * the wire closes first.
   */
  push(bytes: Uint8Array, weight: number, lossy: LossyKind | undefined): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.add({ bytes, weight, lossy, done });
    return done.promise;
  }

  /** Counts a lossy frame that was dropped before it was queued. */
  drop(kind: LossyKind): void {
    this.countDropped(kind);
    this.writeSoon();
  }

  /** Writes the frames of this tick now, unless the wire accepts no more. */
  flush(): void {
    if (this.current === undefined) this.pump();
  }

  /** Writes until the wire accepts no more. */
  pump(): void {
    for (;;) {
      this.current ??= this.next();
      if (this.current === undefined) return this.tellEmpty();
      const { bytes, items, written } = this.current;
      const taken = this.deps.write(written === 0 ? bytes : bytes.subarray(written));
      // The wire is closed, so `fail` will be called soon.
      if (taken < 0) return;
      const rest = this.finish(items, written + taken);
      this.current = rest && { bytes: bytes.subarray(0, rest.end), items: [rest], written: written + taken };
      if (rest !== undefined) return;
    }
  }

  /** Resolves when no frame is queued. */
  async empty(): Promise<void> {
    if (this.isEmpty) return;
    await new Promise<void>((resolve) => this.whenEmpty.push(resolve));
  }

  /** Rejects the queued frames that had to arrive, because the wire is closed. */
  fail(error: GoondanError): void {
    for (const entry of [...this.entries]) {
      this.remove(entry);
      if (entry.lossy === undefined) entry.done?.reject(error);
      else entry.done?.resolve();
    }
    this.current = undefined;
    this.tellEmpty();
  }

  /** Drops all frames, because the reader disconnected. */
  clear(): void {
    this.fail(new GoondanError('E_IPC_CLOSED', 'The reader left.'));
  }

  private add(entry: Entry): void {
    this.entries.add(entry);
    this.bytes += entry.weight;
    if (entry.lossy !== undefined) {
      this.lossy.add(entry);
      this.lossyBytes += entry.weight;
    }
    this.writeSoon();
    this.dropOldest();
    if (entry.lossy === undefined) this.deps.onQueued?.();
  }

  /** Returns true if the frame fits. An empty queue accepts one frame of any size. */
  private hasRoom(weight: number): boolean {
    const { mostWaiting, mostWaitingBytes } = this.deps.limits;
    const waiting = this.entries.size - this.lossy.size;
    if (waiting >= mostWaiting) return false;
    return waiting === 0 || this.bytes - this.lossyBytes + weight <= mostWaitingBytes;
  }

  /** Writes now, or with the other frames of this tick. A write that waits for the wire continues in `pump`. */
  private writeSoon(): void {
    if (this.current !== undefined) return;
    const { later } = this.deps;
    if (later === undefined || this.bytes >= LARGEST_WRITE) return this.pump();
    if (this.isWriteDue) return;
    this.isWriteDue = true;
    later(() => {
      this.isWriteDue = false;
      this.flush();
    });
  }

  /**
   * Resolves the frames that the wire has accepted completely. Returns the first other item, which must be finished. The
   * items after it may still be dropped.
   */
  private finish(items: Write['items'], written: number): Write['items'][number] | undefined {
    for (const item of items) {
      if (item.end > written) return item;
      if (item.entry === undefined) continue;
      this.remove(item.entry);
      item.entry.done?.resolve();
    }
    return undefined;
  }

  private next(): Write | undefined {
    const note = this.dropped === noneDropped ? undefined : this.deps.noteFor(this.dropped);
    this.dropped = noneDropped;
    const pieces: Uint8Array[] = [];
    const items: { entry: Entry | undefined; end: number }[] = [];
    let size = 0;
    const add = (bytes: Uint8Array, entry?: Entry) => {
      pieces.push(bytes);
      size += bytes.length;
      items.push({ entry, end: size });
    };
    if (note !== undefined) add(note);
    const largest = this.deps.later === undefined ? 0 : LARGEST_WRITE;
    for (const entry of this.entries) {
      if (size > 0 && size + entry.bytes.length > largest) break;
      add(entry.bytes, entry);
    }
    const [first] = pieces;
    if (first === undefined) return undefined;
    return { bytes: pieces.length === 1 ? first : Buffer.concat(pieces, size), items, written: 0 };
  }

  private dropOldest(): void {
    if (this.hasTooManyLossy()) this.flush();
    for (const entry of this.lossy) {
      if (!this.hasTooManyLossy()) return;
      if (entry.lossy === undefined || entry === this.current?.items[0]?.entry) continue;
      this.remove(entry);
      this.countDropped(entry.lossy);
      entry.done?.resolve();
    }
  }

  private hasTooManyLossy(): boolean {
    const { mostLossy, mostLossyBytes } = this.deps.limits;
    return this.lossy.size > mostLossy || this.lossyBytes > mostLossyBytes;
  }

  private remove(entry: Entry): void {
    this.entries.delete(entry);
    this.bytes -= entry.weight;
    if (this.lossy.delete(entry)) this.lossyBytes -= entry.weight;
  }

  private countDropped(kind: LossyKind): void {
    this.dropped = { ...this.dropped, [kind]: this.dropped[kind] + 1 };
  }

  private tellEmpty(): void {
    for (const resolve of this.whenEmpty.splice(0)) resolve();
  }
}
