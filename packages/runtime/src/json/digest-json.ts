import type { JsonValue } from '@goondan/types';
import { canonicalJson } from './canonical-json.ts';

/** SHA-256: the same for equal values, whatever the order of their keys, and for no others. */
export function digestJson(value: JsonValue): string {
  // Not `node:crypto`, whose import costs every agent's process 7 ms.
  return new Bun.CryptoHasher('sha256').update(canonicalJson(value)).digest('hex');
}
