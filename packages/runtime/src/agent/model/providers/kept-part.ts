/**
 * Parts of a reply that no message part stands for (sources, reasoning pictures, what a later provider invents) are
 * kept in the conversation as custom parts, whole, under `providerOptions.goondan`. When the conversation is sent
 * again, those a provider wants back are restored and the others stay behind: no provider knows our wrapping.
 */
import type { LanguageModelV4ReasoningFilePart } from '@ai-sdk/provider';
import type { CustomPart, JsonObject } from '@goondan/types';
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

/** Whether {@link keepPart} made it. */
export function isKeptPart(part: CustomPart): boolean {
  return part.providerOptions?.['goondan']?.['part'] !== undefined;
}

/** What goes back to the provider of a kept part: reasoning pictures, nothing else. */
export function restoreKeptPart(part: CustomPart): LanguageModelV4ReasoningFilePart | undefined {
  const kept = part.providerOptions?.['goondan']?.['part'];
  if (!isRecord(kept) || kept['type'] !== 'reasoning-file') return undefined;
  const { data: source, mediaType, providerMetadata } = kept;
  if (!isRecord(source) || typeof mediaType !== 'string') return undefined;
  const text = source['data'] ?? source['url'];
  if (typeof text !== 'string') return undefined;
  return {
    type: 'reasoning-file',
    ...toFileData(text, mediaType),
    // Written by `keepPart` from a provider's own metadata, which has this shape.
    ...(isRecord(providerMetadata) && { providerOptions: providerMetadata as Record<string, JsonObject> }),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
