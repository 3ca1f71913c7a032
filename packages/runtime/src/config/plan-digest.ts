import type { JsonValue } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';

/** A hash of everything that a part of a plan is made of, whatever the order of its keys. */
export function planDigest(part: object): string {
  // Plans are JSON.
  return digestJson(part as unknown as JsonValue);
}
