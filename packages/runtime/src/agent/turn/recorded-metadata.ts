import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { copyJsonObject, NotJson } from '../../json/copy-json.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';

/** A copy of a turn's metadata, as it is recorded: without secrets. Throws `E_METADATA_NOT_JSON` naming the key. */
export function recordedMetadata(metadata: Record<string, JsonValue>, mask: Mask): JsonObject {
  try {
    // An object with every text in it masked is an object.
    return maskJson(copyJsonObject(metadata, { omitUndefined: true }), mask) as JsonObject;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_METADATA_NOT_JSON', `ctx.metadata: ${error.message}.`);
  }
}
