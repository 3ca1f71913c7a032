import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';

/** Copies a turn's metadata for its record, with secrets masked. Throws `E_METADATA_NOT_JSON`, which names the key. */
export function recordedMetadata(metadata: Record<string, JsonValue>, mask: Mask): JsonObject {
  const refuse = ({ message }: Error) => new GoondanError('E_METADATA_NOT_JSON', `ctx.metadata: ${message}.`);
  // Safe: masking an object returns an object.
  return maskJson(copyJsonObject(metadata, { omitUndefined: true, refuse }), mask) as JsonObject;
}
