/**
 * Checks a schema that an answer must fit. A tool's schema may have keywords that the validator ignores; here such a
 * keyword is an error, because an answer would pass for a schema that nobody checks.
 */
import type { JsonSchema } from '@goondan/types';
import { unlessThrows } from '../ports/unless-throws.ts';
import { findSizeProblem } from './count-schema-nodes.ts';
import { findSchemaProblem, schemaKeywords, type SchemaProblem, schemaProblem } from './find-schema-problem.ts';

/** The maximum length of the schema as JSON. It is stored with the event, and sent to the model in every step. */
export const LONGEST_DEMAND = 65_536;

/** Returns the first problem; `undefined` when the schema can be demanded. */
export function findDemandProblem(schema: unknown): SchemaProblem | undefined {
  if (!isObject(schema)) return schemaProblem([], 'must be an object with a JSON Schema');
  const length = JSON.stringify(schema).length;
  if (length > LONGEST_DEMAND) return schemaProblem([], `has ${length} characters; ${LONGEST_DEMAND} are allowed`);
  // Safe: the schema is JSON, and only its size is counted.
  if (findSizeProblem(schema as JsonSchema, 'the answer') !== undefined) {
    return schemaProblem([], 'has too many values once its $refs are followed');
  }
  return findSchemaProblem(schema) ?? findUnchecked(schema, [], schema);
}

type Fields = Readonly<Record<string, unknown>>;

/** Keywords without a check of the value, beside those of draft 7. `$defs` holds targets of `$ref`. */
const remarks = ['const', 'default', 'writeOnly', 'deprecated', '$defs'];
const known = new Set([...schemaKeywords, ...remarks]);
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const single = ['additionalItems', 'additionalProperties', 'contains', 'propertyNames', 'if', 'then', 'else', 'not'];
const lists = ['items', 'allOf', 'anyOf', 'oneOf'];
export const schemaMaps: readonly string[] = ['properties', 'patternProperties', 'definitions', '$defs', 'dependencies'];

/** Finds a keyword that the validator does not check, a `$ref` that leads nowhere, and a pattern that is not one. */
function findUnchecked(node: unknown, path: readonly string[], root: Fields): SchemaProblem | undefined {
  if (!isObject(node)) return undefined;
  const strange = Object.keys(node).find((keyword) => !isKnown(keyword, path.length === 0));
  if (strange !== undefined) {
    return { ...schemaProblem(path, `has the unknown keyword "${strange}"`), path: [...path, strange] };
  }
  return findOwnProblem(node, path, root) ?? findBelow(node, path, root);
}

/** A `$id` would give the schema another address, so it is allowed only where it is removed. */
function isKnown(keyword: string, isTop: boolean): boolean {
  return known.has(keyword) && (isTop || (keyword !== '$id' && keyword !== '$schema'));
}

function findOwnProblem(node: Fields, path: readonly string[], root: Fields): SchemaProblem | undefined {
  const { $ref, pattern, patternProperties } = node;
  if (typeof $ref === 'string' && !leadsSomewhere($ref, root)) {
    return schemaProblem([...path, '$ref'], `must lead to a schema inside this one, but "${$ref}" does not`);
  }
  const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
  const wrong = [...(typeof pattern === 'string' ? [pattern] : []), ...patterns].find((each) => !isPattern(each));
  return wrong === undefined ? undefined : schemaProblem(path, `has a pattern that is not valid: "${wrong}"`);
}

function findBelow(node: Fields, path: readonly string[], root: Fields): SchemaProblem | undefined {
  for (const [keyword, value] of Object.entries(node)) {
    const below = [...path, keyword];
    for (const [keys, schema] of schemasIn(keyword, value)) {
      const problem = findUnchecked(schema, [...below, ...keys], root);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function schemasIn(keyword: string, value: unknown): readonly (readonly [keys: readonly string[], schema: unknown])[] {
  const isList = lists.includes(keyword) && Array.isArray(value);
  if (isList || (schemaMaps.includes(keyword) && isObject(value))) {
    return Object.entries(value as object).map(([key, schema]) => [[key], schema] as const);
  }
  return single.includes(keyword) || keyword === 'items' ? [[[], value]] : [];
}

function leadsSomewhere(reference: string, root: Fields): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return false;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unlessThrows(() => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    const isInside = key !== undefined && typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    at = isInside ? Reflect.get(at as object, key) : undefined;
  }
  return isObject(at) || typeof at === 'boolean';
}

function isPattern(pattern: string): boolean {
  return unlessThrows(() => new RegExp(pattern, 'u')) !== undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
