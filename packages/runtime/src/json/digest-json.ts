import type { JsonValue } from '@goondan/types';
import { canonicalJson } from './canonical-json.ts';
import { sha256 } from './sha256.ts';

/** Returns the SHA-256 of a value. Equal values have the same digest, regardless of the order of their keys. */
export function digestJson(value: JsonValue): string {
  return sha256(canonicalJson(value));
}
