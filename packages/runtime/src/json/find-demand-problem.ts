/**
 * Checks a schema that an answer must fit. A tool's schema may have keywords that the validator ignores; here such a
 * keyword is an error, because an answer would pass for a schema that nobody checks.
 */
import type { JsonSchema } from '@goondan/types';
import { unlessThrows } from '../ports/unless-throws.ts';
import { findSizeProblem } from './count-schema-nodes.ts';
import { findSchemaProblem, schemaKeywords, type SchemaProblem, schemaProblem } from './find-schema-problem.ts';
import { isObject } from './is-object.ts';

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
  return findSchemaProblem(schema) ?? findUnchecked(schema, [], { root: schema, isEndless: endlessIn(schema) });
}

type Fields = Readonly<Record<string, unknown>>;

/** The whole schema of a checked part. */
interface Whole {
  readonly root: Fields;
  isEndless(this: void, part: Fields): boolean;
}

/** Keywords without a check of the value, beside those of draft 7. `$defs` holds targets of `$ref`. */
const remarks = ['const', 'default', 'writeOnly', 'deprecated', '$defs'];
const known = new Set([...schemaKeywords, ...remarks]);
/** The keywords of a schema that can be demanded. */
export const demandKeywords: readonly string[] = [...known];
/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const single = ['additionalItems', 'additionalProperties', 'contains', 'propertyNames', 'if', 'then', 'else', 'not'];
const lists = ['items', 'allOf', 'anyOf', 'oneOf'];
export const schemaMaps: readonly string[] = [
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
];

/** Finds a keyword that the validator does not check, a `$ref` that leads nowhere or never ends, and a pattern that is not one. */
function findUnchecked(node: unknown, path: readonly string[], whole: Whole): SchemaProblem | undefined {
  if (!isObject(node)) return undefined;
  const strange = Object.keys(node).find((keyword) => !isKnown(keyword, path.length === 0));
  if (strange !== undefined) {
    return { ...schemaProblem(path, `has the unknown keyword "${strange}"`), unknownField: strange };
  }
  return findOwnProblem(node, path, whole) ?? findBelow(node, path, whole);
}

/** A `$id` would give the schema another address, so it is allowed only where it is removed. */
function isKnown(keyword: string, isTop: boolean): boolean {
  return known.has(keyword) && (isTop || (keyword !== '$id' && keyword !== '$schema'));
}

function findOwnProblem(node: Fields, path: readonly string[], { root, isEndless }: Whole): SchemaProblem | undefined {
  const { $ref, pattern, patternProperties } = node;
  if (typeof $ref === 'string' && !isSchema(targetOf($ref, root))) {
    return schemaProblem([...path, '$ref'], `must lead to a schema inside this one, but "${$ref}" does not`);
  }
  if (isEndless(node))
    return schemaProblem(path, 'never ends: a $ref leads back to the same schema for the same value');
  const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
  const wrong = [...(typeof pattern === 'string' ? [pattern] : []), ...patterns].find((each) => !isPattern(each));
  return wrong === undefined ? undefined : schemaProblem(path, `has a pattern that is not valid: "${wrong}"`);
}

function findBelow(node: Fields, path: readonly string[], whole: Whole): SchemaProblem | undefined {
  for (const [keyword, value] of Object.entries(node)) {
    const below = [...path, keyword];
    for (const [keys, schema] of schemasIn(keyword, value)) {
      const problem = findUnchecked(schema, [...below, ...keys], whole);
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

function targetOf(reference: string, root: Fields): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unlessThrows(() => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    const isInside = key !== undefined && typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    at = isInside ? Reflect.get(at as object, key) : undefined;
  }
  return at;
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean';
}

/** Keywords whose schemas check the same value, and not a part of it. */
const sameValue = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependencies'];

/**
 * Returns a function that finds out whether the check of a schema comes back to the same schema for the same value, so that it
 * would never end. A `$ref` inside `items` or `properties` may lead back, because every value has an end.
 */
function endlessIn(root: Fields): (node: Fields) => boolean {
  const ended = new Set<unknown>();
  const open = new Set<unknown>();
  return function isEndless(node: unknown): boolean {
    if (open.has(node)) return true;
    if (!isObject(node) || ended.has(node)) return false;
    open.add(node);
    const target = typeof node.$ref === 'string' ? targetOf(node.$ref, root) : undefined;
    const others = sameValue.flatMap((keyword) => schemasIn(keyword, node[keyword]).map(([, schema]) => schema));
    const found = [target, ...others].some(isEndless);
    open.delete(node);
    ended.add(node);
    return found;
  };
}

function isPattern(pattern: string): boolean {
  return unlessThrows(() => new RegExp(pattern, 'u')) !== undefined;
}
