import type { JsonSchema, JsonValue } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';

/** Schema keywords whose values are text for people. */
const prose: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
/** Schema keywords whose values are data and must stay unchanged. */
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Cleans the texts in a schema. Keywords that validate arguments stay unchanged. */
export function cleanSchema(schema: JsonSchema, longest: number): JsonSchema {
  // The cast is safe: cleaning an object gives an object.
  return clean(schema) as JsonSchema;

  function clean(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]): [string, JsonValue] => {
        if (data.has(key)) return [key, item];
        return [key, prose.has(key) && typeof item === 'string' ? cleanText(item, longest) : clean(item)];
      }),
    );
  }
}
