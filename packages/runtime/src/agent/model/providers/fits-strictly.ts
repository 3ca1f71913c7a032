import type { JsonSchema, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';

/** Keywords that OpenAI accepts in a strict schema, beside those with a rule of their own. */
const plain = new Set([
  ...['type', 'description', 'title', 'enum', 'const', '$ref', 'required', 'additionalProperties'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'minItems', 'maxItems'],
]);
const formats = new Set<JsonValue>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);
const maps = new Set(['properties', 'definitions', '$defs']);

/**
 * Returns true if OpenAI accepts the schema in its strict mode: every object is closed, all its fields are required, every
 * schema has a type, and only some keywords, formats and patterns are used. With another schema, the strict mode would
 * refuse the request.
 */
export function fitsStrictly(schema: JsonSchema): boolean {
  return !('anyOf' in schema) && isStrictSchema(schema);
}

function isStrictSchema(schema: JsonValue): boolean {
  if (!isPlainObject(schema)) return false;
  return (
    Object.entries(schema).every(([keyword, value]) => isStrict(keyword, value)) && hasType(schema) && isClosed(schema)
  );
}

function isStrict(keyword: string, value: JsonValue): boolean {
  if (maps.has(keyword)) return isPlainObject(value) && Object.values(value).every(isStrictSchema);
  if (keyword === 'items') return isStrictSchema(value);
  if (keyword === 'anyOf') return Array.isArray(value) && value.every(isStrictSchema);
  if (keyword === 'format') return formats.has(value);
  // A group such as (?=…) looks around, which the mode does not have.
  if (keyword === 'pattern') return typeof value === 'string' && !/\(\?(?!:)/.test(value);
  return plain.has(keyword);
}

/** A `$ref` takes its type from its target, and nothing may be beside it. */
function hasType({ type, anyOf, $ref, ...others }: JsonSchema): boolean {
  if ($ref !== undefined) return type === undefined && anyOf === undefined && Object.keys(others).length === 0;
  return type !== undefined || anyOf !== undefined;
}

function isClosed({ type, properties = {}, required = [], additionalProperties }: JsonSchema): boolean {
  if (![type].flat().includes('object')) return true;
  const names = isPlainObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name));
}
