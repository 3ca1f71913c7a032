import type { JsonObject } from '@goondan/types';

/** Tells whether a value that came from JSON is an object, and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
