/**
 * Computes SHA-256 as hexadecimal digits. `node:crypto` is loaded only in Node, because its import costs each Bun
 * process 7 ms.
 */
import { isBun } from '../ports/is-bun.ts';

export function sha256(content: string | Uint8Array): string {
  if (isBun) return Bun.CryptoHasher.hash('sha256', content, 'hex');
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(content).digest('hex');
}
