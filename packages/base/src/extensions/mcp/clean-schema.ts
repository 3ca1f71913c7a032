import type { JsonSchema, JsonValue } from '@goondan/types';
import { cleanText } from './clean-text.ts';

/** Keywords with text for people. */
const prose: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
/** Keywords with data: their values must stay unchanged. */
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Cleans the texts of a schema; the parts that decide about arguments stay unchanged. */
export function cleanSchema(schema: JsonSchema, longest: number): JsonSchema {
  // A cleaned object is an object.
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
