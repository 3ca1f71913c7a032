/** Decides whether a crash can have left the end of a log of frames. A frame is a line that begins with its checksum. */

const NEWLINE = 0x0a;
const FRAME_START = '{"crc":"';
/** A power loss keeps or loses whole blocks of this size. */
const BLOCK = 512;

/** Returns the offset after the last byte that is not zero. */
export function endOfContent(bytes: Uint8Array, start = 0): number {
  let end = bytes.length;
  while (end > start && bytes[end - 1] === 0) end -= 1;
  return end;
}

/**
 * Returns true if a crash can have left these bytes. A killed process leaves the beginning of its last write. A power
 * loss leaves zeros for whole blocks, or for the end of a block from the start of a frame on. `isIntact` checks a frame
 * without its line break.
 */
export function isTorn(
  bytes: Uint8Array,
  start: number,
  offset: number,
  isIntact: (line: Uint8Array) => boolean,
): boolean {
  let run = bytes.indexOf(0, start);
  if (run === -1) {
    const isWhole = bytes.indexOf(NEWLINE, start) !== -1;
    // A frame that lacks only its line break was cut off. A frame with another byte there was changed.
    if (isWhole || isIntact(bytes.subarray(start, bytes.length - 1))) return false;
    return isBeginning(bytes.subarray(start));
  }
  while (run !== -1) {
    let stop = run;
    while (bytes[stop] === 0) stop += 1;
    const isAtFrame = run === start || bytes[run - 1] === NEWLINE;
    // `LogFile.cut` writes a single zero at the start of a torn end before it removes the rest.
    const isCut = isAtFrame && stop === run + 1;
    if (!isAtFrame && (offset + run) % BLOCK !== 0) return false;
    if (!isCut && (offset + stop) % BLOCK !== 0) return false;
    run = bytes.indexOf(0, stop);
  }
  return true;
}

/** Returns true if a frame can begin with these bytes: the text of JSON without line breaks, in UTF-8. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    // `stream`: the last character may be cut off.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return (
      text.slice(0, FRAME_START.length) === FRAME_START.slice(0, text.length) && bytes.every((byte) => byte >= 0x20)
    );
  } catch {
    return false;
  }
}
