/**
 * Returns the CRC-32 checksum. It detects disk errors, but does not protect against attackers, who can recompute it.
 * The checksum of `a` followed by `b` is `checksum(b, checksum(a))`, so an append does not need to read the file.
 *
 * Uses Bun's own function, which returns the same value as the function of `node:zlib`. Importing `node:zlib` costs
 * every agent process 8 ms, and early releases of Node 20 lack the function.
 */
import { isBun } from '../../ports/is-bun.ts';

export function checksum(bytes: Uint8Array | string, before = 0): number {
  if (isBun) return Bun.hash.crc32(bytes, before);
  return checksumByTable(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes, before);
}

/** Computes the same checksum in plain JavaScript, for Node. */
export function checksumByTable(bytes: Uint8Array, before = 0): number {
  let rest = ~before;
  for (const byte of bytes) rest = (table[(rest ^ byte) & 0xff] ?? 0) ^ (rest >>> 8);
  return ~rest >>> 0;
}

/** The CRC-32 polynomial of IEEE 802.3, bit-reversed. */
const POLYNOMIAL = 0xed_b8_83_20;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? POLYNOMIAL ^ (rest >>> 1) : rest >>> 1;
  return rest;
});
