/**
 * CRC-32: not against an attacker, who can write files anyway, but against what disks do. It can be continued
 * (`checksum(b, checksum(a))` is that of a followed by b), so that appending to a file does not mean reading it.
 */
import { crc32 } from 'node:zlib';

export function checksum(bytes: Uint8Array | string, before = 0): number {
  return crc32(bytes, before);
}
