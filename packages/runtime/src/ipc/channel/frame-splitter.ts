/**
 * Splits incoming bytes into frames, one per line. The splitter never holds more than one frame and the last chunk. It
 * ends at a frame above the limit.
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

  constructor(private readonly longest: number) {}

  /** Adds a chunk. Call this method only after `next` has returned `undefined`. */
  push(chunk: Uint8Array): void {
    this.chunk = chunk;
  }

  /**
   * Returns the next frame; `undefined` when more bytes are needed. Returns `too long` for a frame above the limit, and must
   * not be called again.
   */
  next(): Uint8Array | 'too long' | undefined {
    const end = this.chunk.indexOf(NEWLINE);
    const piece = end === -1 ? this.chunk : this.chunk.subarray(0, end);
    this.chunk = end === -1 ? nothing : this.chunk.subarray(end + 1);
    if (this.startedLength + piece.length > this.longest) return 'too long';
    if (end === -1) {
      this.append(piece);
      return undefined;
    }
    const frame = this.joined(piece);
    this.forget();
    return frame;
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
