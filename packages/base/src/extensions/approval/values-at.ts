import type { JsonObject, JsonValue } from '@goondan/types';

/**
 * Returns the values at a dotted path: `options.force`, `files.0`; `*` is every element of a list and every value of an
 * object.
 */
export function valuesAt(args: JsonObject, path: string): JsonValue[] {
  return path.split('.').reduce<JsonValue[]>((values, key) => values.flatMap((value) => inside(value, key)), [args]);
}

function inside(value: JsonValue, key: string): JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === '*') return Object.values(value).filter((each) => each !== undefined);
  const found = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  // A part of a JSON value is JSON; the `length` of a list is not one of its elements.
  return found === undefined || (Array.isArray(value) && !/^\d+$/.test(key)) ? [] : [found as JsonValue];
}
