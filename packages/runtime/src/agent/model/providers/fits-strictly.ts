import type { JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';

/** Keywords that OpenAI accepts in a strict schema, beside those that hold other schemas. */
const plain = new Set([
  ...['type', 'description', 'title', 'enum', 'const', '$ref', 'pattern', 'format', 'required', 'additionalProperties'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'minItems', 'maxItems'],
]);
const maps = new Set(['properties', 'definitions', '$defs']);

/**
 * Returns true if OpenAI accepts the schema in its strict mode: every object is closed, all its fields are required, and
 * only some keywords are used. With another schema, the strict mode would refuse the request.
 */
export function fitsStrictly(schema: JsonSchema): boolean {
  return Object.entries(schema).every(([keyword, value]) => isStrict(keyword, value)) && isClosed(schema);
}

function isStrict(keyword: string, value: JsonValue): boolean {
  if (maps.has(keyword)) return isPlainObject(value) && Object.values(value).every(isStrictSchema);
  if (keyword === 'items') return isStrictSchema(value);
  if (keyword === 'anyOf') return Array.isArray(value) && value.every(isStrictSchema);
  return plain.has(keyword);
}

function isStrictSchema(value: JsonValue): boolean {
  return isPlainObject(value) && fitsStrictly(value);
}

function isClosed({ type, properties = {}, required = [], additionalProperties }: JsonSchema): boolean {
  if (![type].flat().includes('object')) return true;
  const names = isPlainObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name));
}
