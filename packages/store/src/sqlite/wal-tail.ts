/**
 * Looks at the end of a write-ahead log, before SQLite opens it.
 *
 * SQLite reads the log up to the first frame with a wrong checksum, and takes the rest for the torn end of a crash. A
 * flipped bit looks the same to it: everything behind is dropped without a word. So this file counts the frames behind
 * the break that belong to transactions of the same log. It cannot tell damage from writes that a loss of power brought
 * out of order.
 */

const HEADER = 32;
const FRAME_HEADER = 24;
/** The first four bytes of a log; the last bit says that checksums take numbers with the highest byte first. */
const MAGIC = 0x377f0682;
const USUAL_PAGE = 4096;

/**
 * Counts the frames of transactions behind the first wrong frame, which SQLite drops. `readAt` returns the bytes at a place
 * of the log, `size` is its length.
 */
export function countDropped(readAt: (offset: number, length: number) => Uint8Array, size: number): number {
  if (size < HEADER) return 0;
  const header = viewOf(readAt(0, HEADER));
  const magic = header.getUint32(0);
  const sums = new Checksums((magic & 1) === 0);
  sums.add(header, 0, 24);
  const isWhole = (magic & ~1) === MAGIC && sums.are(header, 24);
  const page = isWhole ? header.getUint32(8) : USUAL_PAGE;
  const salts = [header.getUint32(16), header.getUint32(20)];
  let isBroken = !isWhole;
  let [behind, dropped] = [0, 0];
  for (let at = HEADER; at + FRAME_HEADER + page <= size; at += FRAME_HEADER + page) {
    const frame = viewOf(readAt(at, FRAME_HEADER + page));
    const isOfLog = frame.getUint32(8) === salts[0] && frame.getUint32(12) === salts[1];
    // The log is written from its beginning again and again, and has room: behind its end are old frames, and zeros.
    if (frame.getUint32(0) === 0 || (isWhole && !isOfLog)) {
      isBroken = true;
      continue;
    }
    if (isBroken) {
      behind += 1;
      // Only the last frame of a transaction has the size of the database. Without one, the frames were never committed.
      if (frame.getUint32(4) > 0) dropped = behind;
      continue;
    }
    sums.add(frame, 0, 8);
    sums.add(frame, FRAME_HEADER, FRAME_HEADER + page);
    isBroken = !sums.are(frame, 16);
  }
  return dropped;
}

/** The running checksum of a log: two sums over its numbers of 32 bits. */
class Checksums {
  #first = 0;
  #second = 0;

  constructor(private readonly isLittleEndian: boolean) {}

  add(view: DataView, from: number, to: number): void {
    for (let at = from; at < to; at += 8) {
      this.#first = (this.#first + view.getUint32(at, this.isLittleEndian) + this.#second) >>> 0;
      this.#second = (this.#second + view.getUint32(at + 4, this.isLittleEndian) + this.#first) >>> 0;
    }
  }

  are(view: DataView, at: number): boolean {
    return view.getUint32(at) === this.#first && view.getUint32(at + 4) === this.#second;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
