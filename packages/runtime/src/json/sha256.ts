/**
 * Computes SHA-256 as hexadecimal digits. `node:crypto` is loaded only in Node, because its import costs each Bun
 * process 7 ms.
 */
import { isBun } from '../ports/is-bun.ts';

export function sha256(content: string | Uint8Array): string {
  if (isBun) return Bun.CryptoHasher.hash('sha256', content, 'hex');
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(content).digest('hex');
}

/** The part that the hashers of Bun and of Node have in common. */
interface Hasher {
  update(content: string | Uint8Array): unknown;
  copy(): Hasher;
  digest(encoding: 'hex'): string;
}

/** A hash of a text or of bytes that grow. A copy can be continued by itself. */
export class Sha256 {
  readonly #hasher: Hasher;

  constructor(hasher?: Hasher) {
    this.#hasher = hasher ?? (isBun ? new Bun.CryptoHasher('sha256') : nodeHasher());
  }

  append(content: string | Uint8Array): void {
    this.#hasher.update(content);
  }

  copy(): Sha256 {
    return new Sha256(this.#hasher.copy());
  }

  /** Ends the hash. */
  digest(): string {
    return this.#hasher.digest('hex');
  }
}

function nodeHasher(): Hasher {
  return process.getBuiltinModule('node:crypto').createHash('sha256');
}
