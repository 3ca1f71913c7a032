import type { JsonObject, JsonValue } from '@goondan/types';
import { copyJson, isPlainObject } from '../json/copy-json.ts';

/**
 * Merges `over` into a copy of `under`: objects are merged deeply, arrays and single values are replaced. Both
 * arguments stay unchanged.
 */
export function mergeConfig(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(under), ...Object.keys(over)])) {
    Object.defineProperty(merged, key, {
      value: mergeValue(own(under, key), own(over, key)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}

function mergeValue(under: JsonValue | undefined, over: JsonValue | undefined): JsonValue {
  if (over === undefined) return copyJson(under ?? null);
  if (isPlainObject(under) && isPlainObject(over)) return mergeConfig(under, over);
  return copyJson(over);
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
