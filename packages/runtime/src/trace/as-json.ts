/** Makes JSON of the parts of a model request, into which a layer may have put anything. */
import type { JsonValue } from '@goondan/types';
import { isJson } from '../json/copy-json.ts';

/**
 * Converts a value to JSON, since a layer may have put anything into a request. A bigint, an object that contains
 * itself and a value that cannot be read become texts. Everything else that is not JSON is dropped.
 */
export function asJson(value: unknown, replacer?: ReturnType<typeof unfitReplacer>): JsonValue {
  try {
    // Safe: `isJson` has just checked the value. Messages are JSON, and need no copy.
    if (isJson(value, false)) return value as JsonValue;
    return JSON.parse(JSON.stringify(value, replacer) ?? 'null') as JsonValue;
  } catch {
    // With the replacer, only a getter or a `toJSON` of the value can throw.
    return replacer === undefined ? asJson(value, unfitReplacer()) : '(cannot be read)';
  }
}

/**
 * Makes a replacer for JSON.stringify, which calls it with the enclosing object as `this`. So the replacer knows all
 * objects around a value.
 */
function unfitReplacer(): (this: unknown, key: string, given: unknown) => unknown {
  const above: unknown[] = [];
  return function replace(_key, given) {
    if (typeof given === 'bigint') return `${given}n`;
    if (typeof given !== 'object' || given === null) return given;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(given)) return '(a cycle)';
    above.push(given);
    return given;
  };
}
