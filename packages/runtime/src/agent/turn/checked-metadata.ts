import { GoondanError, type JsonObject } from '@goondan/types';
import { copyJsonObject, NotJson } from '../../json/copy-json.ts';

/** A copy of a turn's metadata, as it is recorded. Throws `E_METADATA_NOT_JSON` naming the key. */
export function checkedMetadata(metadata: Readonly<Record<string, unknown>>): JsonObject {
  try {
    return copyJsonObject(metadata, { omitUndefined: true });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_METADATA_NOT_JSON', `ctx.metadata: ${error.message}.`);
  }
}
