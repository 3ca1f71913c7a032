/**
 * Checks the arguments that a person edited, before the answer is stored. The agent process checks them completely
 * before the tool runs. Here, only keywords are used whose check is short whatever the schema says, because the schema
 * comes from an agent process: no patterns, no references, no alternatives. The messages are those of the validator.
 * Pure.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { type SchemaProblem, schemaProblem, unknownFieldProblem } from '../json/find-schema-problem.ts';
import { isObject } from '../json/is-object.ts';
import { isSameJson } from '../json/same-json.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Returns the first problem of the edited arguments, as a sentence that begins with the field. */
export function findEditProblem(schema: JsonObject | undefined, seen: JsonObject, edited: JsonObject) {
  // Without a schema, the arguments must be an empty object, or the schema is too large.
  for (const { path, message } of problemsOf(schema, edited, [])) {
    // A masked value may not fit, although the value behind it does.
    if (!isUnchanged(path, seen, edited)) return message;
  }
  return undefined;
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

/** A value that fits the schema has none of these problems. */
function* problemsOf(schema: unknown, value: unknown, path: readonly string[]): Generator<SchemaProblem> {
  if (!isObject(schema)) return;
  const { type, const: only, enum: list, items } = schema;
  const types: readonly unknown[] = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.some((each) => hasType(value, each)))
    yield schemaProblem(path, `must be ${types.join(',')}`);
  if (only !== undefined && !isCompound(only) && value !== only) yield schemaProblem(path, 'must be equal to constant');
  if (Array.isArray(list) && !list.some(isCompound) && !list.includes(value))
    yield schemaProblem(path, `must be equal to one of the allowed values (${JSON.stringify(list)})`);
  for (const [keyword, measure, fits, problem] of limits) {
    const [size, limit] = [measure(value), schema[keyword]];
    if (size === undefined || typeof limit !== 'number' || fits(size, limit)) continue;
    yield schemaProblem(path, `must ${problem.replace('#', String(limit))}`);
  }
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* problemsOf(items, item, [...path, String(index)]);
  else if (isObject(value)) yield* fieldProblems(schema, value, path);
}

function* fieldProblems(schema: Schema, value: Schema, path: readonly string[]): Generator<SchemaProblem> {
  const { required, properties, additionalProperties, patternProperties } = schema;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name !== 'string' || name === STRANGE || Object.hasOwn(value, name)) continue;
    yield schemaProblem(path, `must have required property '${name}'`);
  }
  if (!isObject(properties)) return;
  const areOthersForbidden = additionalProperties === false && patternProperties === undefined;
  for (const [name, field] of Object.entries(value)) {
    if (name === STRANGE) continue;
    if (Object.hasOwn(properties, name)) yield* problemsOf(properties[name], field, [...path, name]);
    else if (areOthersForbidden) yield unknownFieldProblem(path, name);
  }
}

/** The name of a field that the validator leaves out, in some of its keywords. */
const STRANGE = '__proto__';

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
const countCharacters = (value: unknown) => (typeof value === 'string' ? Array.from(value).length : undefined);
const countItems = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const isAtMost = (size: number, limit: number) => size <= limit;
const isAtLeast = (size: number, limit: number) => size >= limit;

const limits = [
  ['maximum', asNumber, isAtMost, 'be <= #'],
  ['minimum', asNumber, isAtLeast, 'be >= #'],
  ['exclusiveMaximum', asNumber, (size: number, limit: number) => size < limit, 'be < #'],
  ['exclusiveMinimum', asNumber, (size: number, limit: number) => size > limit, 'be > #'],
  ['maxLength', countCharacters, isAtMost, 'NOT have more than # characters'],
  ['minLength', countCharacters, isAtLeast, 'NOT have fewer than # characters'],
  ['maxItems', countItems, isAtMost, 'NOT have more than # items'],
  ['minItems', countItems, isAtLeast, 'NOT have fewer than # items'],
] as const;

function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
