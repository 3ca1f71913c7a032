/**
 * How a JSON line is made checkable. Each carries the checksum of itself as its last field, `crc`. The lines of one
 * write after the first also carry `b`, how many bytes that write began before them: a write that was torn by a loss
 * of power can leave a hole followed by whole lines, and `b` tells such a hole from damage to older lines.
 */
import { checksum } from './checksum.ts';

/** `,"crc":"01234567"}` */
export const SEAL_LENGTH = 18;

/** Takes the JSON texts of objects; gives the bytes of one write, a line for each. */
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

/** One line on its own. */
export function seal(text: string): string {
  const body = text.slice(0, -1);
  return `${body},"crc":"${checksum(body).toString(16).padStart(8, '0')}"}\n`;
}
