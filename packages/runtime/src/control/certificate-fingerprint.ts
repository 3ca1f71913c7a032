import { createHash } from 'node:crypto';

/** Returns the SHA-256 of a certificate in DER, as 64 hexadecimal digits. */
export function fingerprintOf(certificate: Uint8Array): string {
  return createHash('sha256').update(certificate).digest('hex');
}
