/**
 * Makes JSON lines verifiable. The last field of each line, `crc`, is the checksum of the line. All lines of a write
 * except the first also have `b`, the number of bytes since the start of that write. A power loss during a write can
 * leave a gap followed by intact lines. `b` distinguishes such a gap from damage to older lines.
 */
import { checksum } from './checksum.ts';

/** The length of the end of a sealed line, `,"crc":"01234567"}`. */
export const SEAL_LENGTH = 18;

/** Takes JSON texts of objects and returns the bytes of one write, one line per text. */
export function sealLines(texts: readonly string[]): Uint8Array {
  let written = '';
  let bytes = 0;
  for (const text of texts) {
    const line = seal(bytes === 0 ? text : `{"b":${bytes},${text.slice(1)}`);
    written += line;
    bytes += Buffer.byteLength(line);
  }
  return Buffer.from(written);
}

/** Seals a single line. */
export function seal(text: string): string {
  const body = text.slice(0, -1);
  return `${body},"crc":"${checksum(body).toString(16).padStart(8, '0')}"}\n`;
}
