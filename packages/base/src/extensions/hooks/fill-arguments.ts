/** Fills the arguments of a hook: `{ expr: 'result.text' }` becomes the value at that path in the facts. */
import type { JsonObject, JsonValue } from '@goondan/types';

export function fillArguments(args: JsonObject, facts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fill(value, facts)]));
}

function fill(value: JsonValue, facts: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((each) => fill(each, facts));
  if (value === null || typeof value !== 'object') return value;
  const { expr, ...others } = value;
  if (typeof expr === 'string' && Object.keys(others).length === 0) return lookUp(expr, facts);
  return fillArguments(value, facts);
}

/**
 * Reads a dotted path, with numbers for positions in a list; `null` when nothing is there. Inherited properties do not
 * count.
 */
export function lookUp(path: string, facts: JsonObject): JsonValue {
  let at: JsonValue | undefined = facts;
  for (const key of path.trim().split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return null;
    // `key` is a position of a list, or a key of an object.
    at = (at as Record<string, JsonValue>)[key];
  }
  return at ?? null;
}
