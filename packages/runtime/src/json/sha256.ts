/**
 * Computes SHA-256 as hexadecimal digits. `node:crypto` is loaded only in Node, because its import costs each Bun
 * process 7 ms.
 */
import { isBun } from '../ports/is-bun.ts';

export function sha256(content: string | Uint8Array): string {
  return isBun ? Bun.CryptoHasher.hash('sha256', content, 'hex') : sha256OfAll([content]);
}

/** Hashes the parts as if they were concatenated. */
export function sha256OfAll(parts: Iterable<string | Uint8Array>): string {
  const hash = isBun ? new Bun.CryptoHasher('sha256') : process.getBuiltinModule('node:crypto').createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').toString();
}
