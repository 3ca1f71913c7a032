import type { JsonValue } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';

/** Returns a hash of a part of a plan, regardless of the order of keys. */
export function planDigest(part: object): string {
  // Safe: plans are JSON.
  return digestJson(part as unknown as JsonValue);
}
