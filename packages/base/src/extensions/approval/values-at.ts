import type { JsonObject, JsonValue } from '@goondan/types';

/**
 * Returns the values at a dotted path such as `options.force` or `files.0`. `*` matches every element of a list and
 * every value of an object.
 */
export function valuesAt(args: JsonObject, path: string): JsonValue[] {
  return path.split('.').reduce<JsonValue[]>((values, key) => values.flatMap((value) => inside(value, key)), [args]);
}

function inside(value: JsonValue, key: string): JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === '*') return Object.values(value).filter((each) => each !== undefined);
  const found = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  // The cast is safe: a part of a JSON value is JSON. Only digits select from a list, so `length` finds nothing.
  return found === undefined || (Array.isArray(value) && !/^\d+$/.test(key)) ? [] : [found as JsonValue];
}
