/**
 * Checks that a delivery is exactly what its sender signed, and that it was signed recently.
 *
 * Invariants:
 * 1. The signature is checked over the raw bytes; nothing is parsed before.
 * 2. Signatures are compared as text and in constant time: a difference in case, length, prefix or encoding is a
 *    mismatch.
 * 3. A delivery is refused when its time is too far in the past or in the future.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '@goondan/types/http';
import type { SignatureScheme } from './signature-scheme.ts';

export interface SignedDelivery {
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The value of the id header, when the scheme includes it in the signed text. */
  readonly id: string;
  readonly now: number;
}

/** Returns the signature if it was made with one of the secrets. Throws a `Refusal` with 401 otherwise. */
export function checkSignature(scheme: SignatureScheme, secrets: readonly string[], delivery: SignedDelivery): string {
  const given = delivery.headers.get(scheme.header);
  if (given === null || given === '') throw refuse(`The header ${scheme.header} is missing.`);
  const timestamp = readTimestamp(scheme, delivery);
  const [before = '', after = ''] = scheme.signed
    .replaceAll('{timestamp}', () => timestamp)
    .replaceAll('{id}', () => delivery.id)
    .split('{body}');
  const fits = secrets.filter((secret) => {
    const made = createHmac(scheme.algorithm, secret).update(before).update(delivery.body).update(after);
    return isSame(given, scheme.prefix + made.digest(scheme.encoding));
  });
  if (fits.length === 0) throw refuse('The signature does not match.');
  return given;
}

function readTimestamp({ timestamp }: SignatureScheme, { headers, now }: SignedDelivery): string {
  if (timestamp === undefined) return '';
  const given = headers.get(timestamp.header) ?? '';
  const ms = /^\d{1,15}$/.test(given) ? Number(given) * (timestamp.unit === 'seconds' ? 1_000 : 1) : NaN;
  // If the time is not a number, this comparison is false, so the delivery is refused.
  if (Math.abs(now - ms) <= timestamp.toleranceSeconds * 1_000) return given;
  throw refuse(
    `The header ${timestamp.header} is missing, or not within ${timestamp.toleranceSeconds} seconds of now.`,
  );
}

/** Compares two texts in constant time. Their hashes are compared, because hashes have the same length. */
function isSame(given: string, wanted: string): boolean {
  const [left, right] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

function refuse(message: string): Refusal {
  return new Refusal(401, 'E_WEBHOOK_SIGNATURE', message);
}
