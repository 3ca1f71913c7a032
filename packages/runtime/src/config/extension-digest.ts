import type { JsonValue } from '@goondan/types';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import type { DeclaredExtension } from './declared-extension.ts';
import { digestJson } from '../json/digest-json.ts';

/**
 * Returns a hash of an extension's module, its imports and its config. Secrets are masked, so the hash may be stored.
 */
export function extensionDigest({ resource, config = {}, tier = 'agent', digest = '' }: DeclaredExtension, mask: Mask) {
  const said: JsonValue = { own: resource.spec.config ?? {}, given: config };
  return digestJson({ tier, digest, config: maskJson(said, mask) });
}
