import type { JsonValue } from '@goondan/types';
import { canonicalJson } from '../json/canonical-json.ts';

/** A hash of everything that a part of a plan is made of, whatever the order of its keys. */
export function planDigest(part: object): string {
  // Plans are JSON.
  const text = canonicalJson(part as unknown as JsonValue);
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}
