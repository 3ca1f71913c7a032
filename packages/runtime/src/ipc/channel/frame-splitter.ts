/**
 * Splits incoming bytes into frames, one per line. The splitter never holds more than one frame and the last chunk. A
 * frame above the limit is reported once and skipped to its end, so that it does not affect the next frame.
 */

const NEWLINE = 10;
const SMALLEST_ROOM = 4_096;

export class FrameSplitter {
  /** Bytes that are not split yet. */
  private chunk: Uint8Array = nothing;
  /**
   * The beginning of an incomplete frame. Its buffer grows by doubling, so that many small chunks cost no more than a
   * few large ones.
   */
  private started: Uint8Array = nothing;
  private startedLength = 0;
  private skipping = false;

  constructor(private readonly longest: number) {}

  /** Adds a chunk. Call this method only after `next` has returned `undefined`. */
  push(chunk: Uint8Array): void {
    this.chunk = chunk;
  }

  /** Returns the next frame, or `too long` for a frame above the limit; `undefined` when more bytes are needed. */
  next(): Uint8Array | 'too long' | undefined {
    for (;;) {
      const end = this.chunk.indexOf(NEWLINE);
      if (end === -1) return this.keepStart();
      const piece = this.chunk.subarray(0, end);
      this.chunk = this.chunk.subarray(end + 1);
      if (this.skipping) {
        this.skipping = false;
        continue;
      }
      const isTooLong = this.startedLength + piece.length > this.longest;
      const frame = isTooLong ? 'too long' : this.joined(piece);
      this.forget();
      return frame;
    }
  }

  private keepStart(): 'too long' | undefined {
    const piece = this.chunk;
    this.chunk = nothing;
    if (this.skipping || piece.length === 0) return undefined;
    if (this.startedLength + piece.length > this.longest) {
      this.skipping = true;
      this.forget();
      return 'too long';
    }
    this.append(piece);
    return undefined;
  }

  private joined(piece: Uint8Array): Uint8Array {
    if (this.startedLength === 0) return piece;
    this.append(piece);
    return this.started.subarray(0, this.startedLength);
  }

  private append(piece: Uint8Array): void {
    const length = this.startedLength + piece.length;
    if (length > this.started.length) {
      const roomier = new Uint8Array(Math.max(length, this.started.length * 2, SMALLEST_ROOM));
      roomier.set(this.started.subarray(0, this.startedLength));
      this.started = roomier;
    }
    this.started.set(piece, this.startedLength);
    this.startedLength = length;
  }

  /** Drops the incomplete frame and its buffer, so that an idle channel uses no memory. */
  private forget(): void {
    this.started = nothing;
    this.startedLength = 0;
  }
}

const nothing = new Uint8Array(0);
