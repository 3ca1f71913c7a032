/**
 * Keeps the parts of a reply for which messages have no type of their own (sources, reasoning images, future kinds).
 * They are stored in the conversation as custom parts, complete, under `providerOptions.goondan`. When the conversation
 * is sent again, parts that the provider needs are restored. The others are left out, because no provider knows custom
 * parts.
 */
import type { LanguageModelV4ReasoningFilePart } from '@ai-sdk/provider';
import type { CustomPart, JsonObject } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { toFileData } from './to-file-data.ts';
import { toJson } from './to-json.ts';

/** @example keepPart('google', { type: 'source', url: … }).kind // 'google.source' */
export function keepPart(provider: string, part: { readonly type: string }): CustomPart {
  return {
    type: 'custom',
    kind: `${provider}.${part.type}`,
    providerOptions: { goondan: { part: toJson(part) } },
  };
}

/** Returns true for a part made by {@link keepPart}. */
export function isKeptPart(part: CustomPart): boolean {
  return part.providerOptions?.['goondan']?.['part'] !== undefined;
}

/** Restores a kept part for the provider; only reasoning images are restored. */
export function restoreKeptPart(part: CustomPart): LanguageModelV4ReasoningFilePart | undefined {
  const kept = part.providerOptions?.['goondan']?.['part'];
  if (!isPlainObject(kept) || kept['type'] !== 'reasoning-file') return undefined;
  const { data: source, mediaType, providerMetadata } = kept;
  if (!isPlainObject(source) || typeof mediaType !== 'string') return undefined;
  const text = source['data'] ?? source['url'];
  if (typeof text !== 'string') return undefined;
  return {
    type: 'reasoning-file',
    ...toFileData(text, mediaType),
    // Safe: `keepPart` wrote it from a provider's own metadata, which has this shape.
    ...(isPlainObject(providerMetadata) && { providerOptions: providerMetadata as Record<string, JsonObject> }),
  };
}
