import type { JsonObject } from '@goondan/types';
import { canonicalJson } from '../../json/canonical-json.ts';

/** The same for the same arguments, whatever the order of their keys, and for no others. */
export function digestArguments(args: JsonObject): string {
  return new Bun.CryptoHasher('sha256').update(canonicalJson(args)).digest('hex');
}
