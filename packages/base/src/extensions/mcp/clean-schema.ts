import type { JsonSchema, JsonValue } from '@goondan/types';
import { cleanText } from './clean-text.ts';

/** Keywords that are only text. */
const prose: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
/** Where a key is the name of something, or a value is meant as it stands. */
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** The schema with its prose cleaned; what decides about arguments stays as it is. */
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
