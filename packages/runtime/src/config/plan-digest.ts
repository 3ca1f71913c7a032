import type { JsonValue } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';

/** Returns a hash of a part of a plan; the order of its keys does not matter. */
export function planDigest(part: object): string {
  // Plans are JSON.
  return digestJson(part as unknown as JsonValue);
}
