import type { JsonValue } from '@goondan/types';

/**
 * Converts a value from a provider to JSON: bytes become base64, dates and URLs become strings, `undefined` is left
 * out.
 */
export function toJson(value: unknown): JsonValue {
  const text = JSON.stringify(value, function (this: unknown, _key: string, item: unknown) {
    return item instanceof Uint8Array ? Buffer.from(item).toString('base64') : item;
  });
  return text === undefined ? null : JSON.parse(text);
}
