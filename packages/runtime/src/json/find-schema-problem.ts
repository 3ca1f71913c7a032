/**
 * Checks that a value is a JSON Schema of draft 7. The validator is not used for this, because loading it and compiling
 * the meta-schema would take 80 ms at every start of a program.
 *
 * The rules, their order and their messages are those of `ajv` for the meta-schema; `find-schema-problem.test.ts`
 * compares the results of this file with those of `ajv`.
 */
import type { JsonValue } from '@goondan/types';
import { canonicalJson } from './canonical-json.ts';
import { isObject } from './is-object.ts';

export interface SchemaProblem {
  /** The keys that lead to the place of the problem. */
  readonly path: readonly string[];
  /** The message, which begins with the place. */
  readonly message: string;
  /** The field that the schema does not know, if that is the problem. The field is in the object at `path`. */
  readonly unknownField?: string;
  /** True if a condition of the schema forbids the field at `path`. */
  readonly isForbidden?: true;
}

type Check = (value: unknown, path: readonly string[]) => SchemaProblem | undefined;

/** Returns the first problem; `undefined` when the value is a JSON Schema. */
export function findSchemaProblem(schema: unknown): SchemaProblem | undefined {
  // `$id` and `$schema` at the top level are not checked, because they are removed before the validator gets the
  // schema.
  return schemaCheck(isObject(schema) ? { ...schema, $id: undefined, $schema: undefined } : schema, []);
}

export function schemaProblem(path: readonly string[], problem: string): SchemaProblem {
  return { path, message: `${path.length === 0 ? 'the value' : path.join('.')} ${problem}` };
}

/** Returns the problem of an object with a field that the schema does not allow. */
export function unknownFieldProblem(path: readonly string[], field: string): SchemaProblem {
  return { ...schemaProblem(path, `must NOT have additional properties ("${field}")`), unknownField: field };
}

/** Returns the indexes of the first two equal items, in a single pass over the items. */
export function findDuplicate(items: readonly unknown[]): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    // Safe: items of a schema or of a checked value are JSON.
    const text = canonicalJson(item as JsonValue);
    const first = seen.get(text);
    if (first !== undefined) return [first, index];
    seen.set(text, index);
  }
  return undefined;
}

export function duplicateMessage([first, second]: readonly [number, number]): string {
  return `must NOT have duplicate items (items ## ${first} and ${second} are identical)`;
}

const schemaCheck: Check = (value, path) => {
  if (typeof value === 'boolean') return undefined;
  if (!isObject(value)) return schemaProblem(path, 'must be object,boolean');
  for (const [keyword, check] of keywords) {
    const found = value[keyword];
    const problem = found === undefined ? undefined : check(found, [...path, keyword]);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const typeName: Check = (value, path) =>
  typeNames.some((name) => name === value)
    ? undefined
    : schemaProblem(path, `must be equal to one of the allowed values (${JSON.stringify(typeNames)})`);

const text = ofType('string', (value) => typeof value === 'string');
const flag = ofType('boolean', (value) => typeof value === 'boolean');
const number = ofType('number', (value) => Number.isFinite(value));
const integer = ofType('integer', (value) => Number.isFinite(value) && Number(value) % 1 === 0);
const count = both(integer, (value, path) => (Number(value) >= 0 ? undefined : schemaProblem(path, 'must be >= 0')));
const size = both(number, (value, path) => (Number(value) > 0 ? undefined : schemaProblem(path, 'must be > 0')));

const anyList = listOf(() => undefined);
const schemas = both(listOf(schemaCheck), notEmpty);
const names = both(listOf(text), unique);

/** Keywords in the order in which they are checked. */
const keywords: readonly (readonly [keyword: string, check: Check])[] = [
  ['$id', text],
  ['$schema', text],
  ['$ref', text],
  ['$comment', text],
  ['title', text],
  ['description', text],
  ['readOnly', flag],
  ['examples', anyList],
  ['multipleOf', size],
  ['maximum', number],
  ['exclusiveMaximum', number],
  ['minimum', number],
  ['exclusiveMinimum', number],
  ['maxLength', count],
  ['minLength', count],
  ['pattern', text],
  ['additionalItems', schemaCheck],
  ['items', either(schemaCheck, schemas)],
  ['maxItems', count],
  ['minItems', count],
  ['uniqueItems', flag],
  ['contains', schemaCheck],
  ['maxProperties', count],
  ['minProperties', count],
  ['required', names],
  ['additionalProperties', schemaCheck],
  ['definitions', objectOf(schemaCheck)],
  ['properties', objectOf(schemaCheck)],
  ['patternProperties', objectOf(schemaCheck)],
  ['dependencies', objectOf(either(schemaCheck, names))],
  ['propertyNames', schemaCheck],
  ['enum', both(anyList, both(notEmpty, unique))],
  ['type', either(typeName, both(listOf(typeName), both(notEmpty, unique)))],
  ['format', text],
  ['contentMediaType', text],
  ['contentEncoding', text],
  ['if', schemaCheck],
  ['then', schemaCheck],
  ['else', schemaCheck],
  ['allOf', schemas],
  ['anyOf', schemas],
  ['oneOf', schemas],
  ['not', schemaCheck],
];

/** The keywords that the validator knows and that have a check here. */
export const schemaKeywords: readonly string[] = keywords.map(([keyword]) => keyword);

function ofType(name: string, fits: (value: unknown) => boolean): Check {
  return (value, path) => (fits(value) ? undefined : schemaProblem(path, `must be ${name}`));
}

function both(one: Check, other: Check): Check {
  return (value, path) => one(value, path) ?? other(value, path);
}

/** Accepts a value that passes one of the two checks; otherwise returns the problem of the first check. */
function either(one: Check, other: Check): Check {
  return (value, path) => {
    const problem = one(value, path);
    return problem !== undefined && other(value, path) !== undefined ? problem : undefined;
  };
}

function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return schemaProblem(path, 'must be array');
    return firstOf(value.entries(), check, path);
  };
}

function objectOf(check: Check): Check {
  return (value, path) => {
    if (!isObject(value)) return schemaProblem(path, 'must be object');
    return firstOf(Object.entries(value), check, path);
  };
}

function firstOf(entries: Iterable<[string | number, unknown]>, check: Check, path: readonly string[]) {
  for (const [key, item] of entries) {
    const problem = check(item, [...path, String(key)]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function notEmpty(value: unknown, path: readonly string[]): SchemaProblem | undefined {
  return Array.isArray(value) && value.length === 0
    ? schemaProblem(path, 'must NOT have fewer than 1 items')
    : undefined;
}

function unique(value: unknown, path: readonly string[]): SchemaProblem | undefined {
  const duplicate = Array.isArray(value) ? findDuplicate(value) : undefined;
  return duplicate && schemaProblem(path, duplicateMessage(duplicate));
}
