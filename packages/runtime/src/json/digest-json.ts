import type { JsonValue } from '@goondan/types';
import { canonicalJson } from './canonical-json.ts';
import { sha256 } from './sha256.ts';

/** Returns the SHA-256: the same for equal values, whatever the order of their keys, and for no others. */
export function digestJson(value: JsonValue): string {
  return sha256(canonicalJson(value));
}
