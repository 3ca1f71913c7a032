/**
 * CRC-32: not against an attacker, who can write files anyway, but against what disks do. It can be continued
 * (`checksum(b, checksum(a))` is that of a followed by b), so that appending to a file does not mean reading it.
 *
 * Bun's own, which gives what `node:zlib` gives: importing that costs every agent's process 8 ms.
 */

export function checksum(bytes: Uint8Array | string, before = 0): number {
  return Bun.hash.crc32(bytes, before);
}
