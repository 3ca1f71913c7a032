/**
 * Reads the frames of a segment, and distinguishes three ends: room, which is zeros; a torn end, which a crash leaves
 * and which may be cut off; and damage, which a crash cannot cause and which must be reported.
 *
 * A segment always has at least one zero after its last frame, because its file is extended before a frame is written. A
 * closed segment has a space there. So a file that was cut off is recognized as damaged.
 */
import { countNumbers, decodeFrame, type Frame } from './frame.ts';
import { endOfContent, isTorn } from './torn-end.ts';

export interface ReadFrames {
  readonly frames: readonly Frame[];
  /** The offset after the last intact frame. */
  readonly end: number;
  /** The offset up to which the frames say that everything was durable. */
  readonly durableEnd: number;
  /** The number after that of the last intact frame. */
  readonly next: number;
  /** True if a crash left bytes after the last intact frame. */
  readonly torn: boolean;
  /** False if neither a zero nor a space follows the frames: the end of the file is missing. */
  readonly hasRoom: boolean;
  /** True if the last owner closed the file. */
  readonly isClosed?: boolean;
  /** A description of the damage. */
  readonly damage?: string;
}

const NEWLINE = 0x0a;
/** A space, which `LogFile.trim` leaves instead of room. */
export const CLOSED = 0x20;

/**
 * Reads frames, whose numbers must have no gaps. `offset`: the offset of the bytes in the file. `next`: the number of the
 * first frame; any number when absent.
 */
export function readFrames(bytes: Uint8Array, offset = 0, next?: number): ReadFrames {
  const frames: Frame[] = [];
  let start = 0;
  let expected = next;
  /** The offsets after the frames, each with the number after the frame. The first `durable` ones are known as durable. */
  const ends: { readonly next: number; readonly end: number }[] = [];
  let durable = 0;
  let durableEnd = offset;
  const found = () => ({ frames, end: offset + start, durableEnd, next: expected ?? 1 });
  while (start < bytes.length) {
    const stop = bytes.indexOf(NEWLINE, start);
    const frame = stop === -1 || bytes[start] === 0 ? undefined : decodeFrame(bytes.subarray(start, stop));
    if (!frame) return { ...found(), ...judgeEnd(bytes, start, offset, expected) };
    if (expected !== undefined && frame.seq !== expected) {
      const damage = `the frame at byte ${offset + start} has number ${frame.seq}, not ${expected}`;
      return { ...found(), torn: false, hasRoom: true, damage };
    }
    frames.push(frame);
    expected = frame.seq + countNumbers(frame);
    start = stop + 1;
    for (let each = ends[durable]; each && each.next <= frame.durable + 1; each = ends[durable]) {
      durableEnd = each.end;
      durable += 1;
    }
    ends.push({ next: expected, end: offset + start });
  }
  return { ...found(), torn: false, hasRoom: false };
}

function judgeEnd(
  bytes: Uint8Array,
  start: number,
  offset: number,
  expected: number | undefined,
): Pick<ReadFrames, 'torn' | 'hasRoom' | 'isClosed' | 'damage'> {
  const end = endOfContent(bytes, start);
  const isClosed = end === start + 1 && bytes[start] === CLOSED;
  if (end === start || isClosed) return { torn: false, hasRoom: true, isClosed };
  const at = `the frame at byte ${offset + start}`;
  if (wasDurable(bytes, start, end, expected)) {
    return { torn: false, hasRoom: true, damage: `${at} is damaged, but a later frame says that it was durable` };
  }
  if (end < bytes.length && isTorn(bytes.subarray(0, end), start, offset, (line) => decodeFrame(line) !== undefined))
    return { torn: true, hasRoom: true };
  return { torn: false, hasRoom: end < bytes.length, damage: `${at} is damaged` };
}

/** Returns true if an intact frame after the bad one says that the bad one was durable. */
function wasDurable(bytes: Uint8Array, start: number, end: number, expected: number | undefined): boolean {
  for (let at = bytes.indexOf(NEWLINE, start) + 1; at > 0 && at < end; at = bytes.indexOf(NEWLINE, at) + 1) {
    // Blocks that were lost may precede the frame on its line.
    while (bytes[at] === 0) at += 1;
    const stop = bytes.indexOf(NEWLINE, at);
    const frame = stop === -1 ? undefined : decodeFrame(bytes.subarray(at, stop));
    if (frame && (expected === undefined || frame.durable >= expected)) return true;
  }
  return false;
}
