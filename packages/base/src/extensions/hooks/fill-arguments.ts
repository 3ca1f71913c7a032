/** Fills in the arguments of a hook: `{ expr: 'result.text' }` is replaced by the value at that path in the facts. */
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
 * Looks up a dotted path; numbers are positions in a list. Returns `null` when the path leads nowhere. Inherited
 * properties are ignored.
 */
export function lookUp(path: string, facts: JsonObject): JsonValue {
  let at: JsonValue | undefined = facts;
  for (const key of path.trim().split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return null;
    // The cast is safe: `key` is an own position of a list or an own key of an object.
    at = (at as Record<string, JsonValue>)[key];
  }
  return at ?? null;
}
