/**
 * Checks the arguments that a person edited, before the answer is stored. The agent process checks them completely
 * before the tool runs. Here, only keywords are used whose check is short whatever the schema says, because the schema
 * comes from an agent process: no patterns, no references, no alternatives. Pure.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { checkPlainSchema } from '../json/check-plain-schema.ts';
import { isObject } from '../json/is-object.ts';
import { isSameJson } from '../json/same-json.ts';

/** Returns the first problem of the edited arguments, as a sentence that begins with the field. */
export function findEditProblem(schema: JsonObject | undefined, seen: JsonObject, edited: JsonObject) {
  // Without a schema, the arguments must be an empty object, or the schema is too large.
  const check = schema && checkPlainSchema(plainPart(schema));
  const problems = check?.(edited) ?? [];
  // A masked value may not fit, although the value behind it does.
  return problems.find(({ path }) => !isUnchanged(path, seen, edited))?.message;
}

function isUnchanged(path: readonly string[], seen: JsonObject, edited: JsonObject): boolean {
  const [before, after] = [valueAt(seen, path), valueAt(edited, path)];
  return before !== undefined && after !== undefined && typeof after !== 'object' && isSameJson(before, after);
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, JsonValue>>)[key];
  }
  return at;
}

const simple = ['type', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'maxLength', 'minLength'];
const counts = ['maxItems', 'minItems'];

/** Returns the part of a schema that the check knows. A value that fits the schema also fits this part. */
function plainPart(schema: unknown): JsonSchema {
  if (!isObject(schema)) return {};
  const part: Record<string, unknown> = {};
  for (const keyword of [...simple, ...counts]) if (schema[keyword] !== undefined) part[keyword] = schema[keyword];
  const { required, properties, items, additionalProperties, patternProperties, const: only, enum: list } = schema;
  if (Array.isArray(list) && !list.some(isCompound)) part['enum'] = list;
  if (only !== undefined && !isCompound(only)) part['const'] = only;
  if (Array.isArray(required)) part['required'] = required.filter((name) => name !== '__proto__');
  if (isObject(items)) part['items'] = plainPart(items);
  if (isObject(properties) && !Object.hasOwn(properties, '__proto__'))
    part['properties'] = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, plainPart(each)]));
  if (additionalProperties === false && patternProperties === undefined && part['properties'] !== undefined)
    part['additionalProperties'] = false;
  // Safe: the values are those of the schema.
  return part as JsonSchema;
}

function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
