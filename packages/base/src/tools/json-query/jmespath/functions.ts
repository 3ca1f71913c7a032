/** The functions of JMESPath. Each takes checked arguments and pays for the work that depends on their size. */
import type { JsonArray, JsonObject, JsonValue } from '@goondan/types';
import type { Budget } from './budget.ts';
import { hasText } from './find-text.ts';
import { isEqual, type JsonType, keysOf, typeOf, writeJson } from './json-values.ts';
import { queryError } from './query-error.ts';

/** The value of `&expression`: the function evaluates the expression for each item. */
export type Reference = (item: JsonValue) => JsonValue;
type Given = JsonValue | Reference;

/** The types that an argument may have; `numbers` and `strings` are lists of only such items. */
type Accepted = readonly (JsonType | 'any' | 'numbers' | 'strings' | 'reference')[];

interface QueryFunction {
  readonly takes: readonly Accepted[];
  /** True if the last argument may be repeated. */
  readonly isRepeated?: true;
  // The arguments were checked against `takes`, which the type of a table cannot express.
  readonly run: (args: never, budget: Budget) => JsonValue;
}

const ordered: Accepted = ['numbers', 'strings'];
const by: readonly Accepted[] = [['array'], ['reference']];

const functions: Readonly<Record<string, QueryFunction>> = {
  abs: { takes: [['number']], run: ([number]: [number]) => Math.abs(number) },
  avg: {
    takes: [['numbers']],
    run: ([list]: [number[]]) => (list.length === 0 ? null : add(list) / list.length),
  },
  ceil: { takes: [['number']], run: ([number]: [number]) => Math.ceil(number) },
  contains: { takes: [['array', 'string'], ['any']], run: contains },
  ends_with: {
    takes: [['string'], ['string']],
    run: ([text, end]: [string, string], budget) =>
      isEqual(text.slice(Math.max(0, text.length - end.length)), end, budget),
  },
  floor: { takes: [['number']], run: ([number]: [number]) => Math.floor(number) },
  join: { takes: [['string'], ['strings']], run: join },
  keys: { takes: [['object']], run: ([object]: [JsonObject], budget) => [...keysOf(object, budget)] },
  length: { takes: [['string', 'array', 'object']], run: length },
  map: { takes: [['reference'], ['array']], run: ([each, list]: [Reference, JsonArray]) => list.map(each) },
  max: { takes: [ordered], run: ([list]: [JsonArray], budget) => best(list, list, 1, budget) },
  max_by: {
    takes: by,
    run: ([list, each]: [JsonArray, Reference], budget) => best(list, ranks('max_by', list, each, budget), 1, budget),
  },
  merge: { takes: [['object']], isRepeated: true, run: merge },
  min: { takes: [ordered], run: ([list]: [JsonArray], budget) => best(list, list, -1, budget) },
  min_by: {
    takes: by,
    run: ([list, each]: [JsonArray, Reference], budget) => best(list, ranks('min_by', list, each, budget), -1, budget),
  },
  not_null: {
    takes: [['any']],
    isRepeated: true,
    run: (values: JsonArray) => values.find((value) => value !== null) ?? null,
  },
  reverse: { takes: [['string', 'array']], run: reverse },
  sort: { takes: [ordered], run: ([list]: [JsonArray], budget) => sort(list, list, budget) },
  sort_by: {
    takes: by,
    run: ([list, each]: [JsonArray, Reference], budget) => sort(list, ranks('sort_by', list, each, budget), budget),
  },
  starts_with: {
    takes: [['string'], ['string']],
    run: ([text, start]: [string, string], budget) => isEqual(text.slice(0, start.length), start, budget),
  },
  sum: { takes: [['numbers']], run: ([list]: [number[]]) => add(list) },
  to_array: { takes: [['any']], run: ([value]: [JsonValue]) => (Array.isArray(value) ? value : [value]) },
  to_number: { takes: [['any']], run: toNumber },
  to_string: {
    takes: [['any']],
    run: ([value]: [JsonValue], budget) => (typeof value === 'string' ? value : writeJson(value, budget)),
  },
  type: { takes: [['any']], run: ([value]: [JsonValue]) => typeOf(value) },
  values: {
    takes: [['object']],
    run: ([object]: [JsonObject], budget) => keysOf(object, budget).map((key) => object[key] ?? null),
  },
};

export function callFunction(name: string, args: readonly Given[], budget: Budget): JsonValue {
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (known === undefined) {
    throw queryError(`JMESPath has no function ${name}(); its functions are ${Object.keys(functions).join(', ')}`);
  }
  const { takes, isRepeated, run } = known;
  if (isRepeated === true ? args.length < takes.length : args.length !== takes.length) {
    const count = `${isRepeated === true ? 'at least ' : ''}${takes.length} argument${takes.length === 1 ? '' : 's'}`;
    throw queryError(`${name}() takes ${count}, not ${args.length}`);
  }
  for (const [index, given] of args.entries()) {
    // The last entry counts for all repeated arguments.
    const accepted = takes[Math.min(index, takes.length - 1)] as Accepted;
    if (accepted.some((type) => isOf(type, given, budget))) continue;
    throw queryError(
      `${name}() takes ${accepted.map(named).join(' or ')} as argument ${index + 1}, not ${what(given)}`,
    );
  }
  // The cast is safe: the arguments were checked just now.
  return run(args as never, budget);
}

function isOf(type: Accepted[number], given: Given, budget: Budget): boolean {
  if (typeof given === 'function') return type === 'reference';
  if (type === 'any') return true;
  if (type !== 'numbers' && type !== 'strings') return typeOf(given) === type;
  if (!Array.isArray(given)) return false;
  // These functions go through the whole list, so the list is paid for here.
  budget.spend(given.length);
  return given.every((item) => typeof item === (type === 'numbers' ? 'number' : 'string'));
}

const names: Readonly<Record<string, string>> = {
  array: 'a list',
  numbers: 'a list of numbers',
  strings: 'a list of strings',
  object: 'an object',
  reference: '&expression',
};

function named(type: Accepted[number]): string {
  return names[type] ?? (type === 'null' ? 'null' : `a ${type}`);
}

function what(given: Given): string {
  return named(typeof given === 'function' ? 'reference' : typeOf(given));
}

function add(list: readonly number[]): number {
  return list.reduce((sum, number) => sum + number, 0);
}

function contains([inside, wanted]: [JsonArray | string, JsonValue], budget: Budget): boolean {
  if (Array.isArray(inside)) return inside.some((item) => isEqual(item, wanted, budget));
  if (typeof wanted !== 'string') return false;
  budget.spend((inside.length + wanted.length) >> 2);
  return hasText(inside, wanted);
}

function join([glue, list]: [string, string[]], budget: Budget): string {
  for (const text of list) budget.spend(text.length + glue.length);
  return list.join(glue);
}

function length([value]: [string | JsonArray | JsonObject], budget: Budget): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return keysOf(value, budget).length;
  return characters(value, budget).length;
}

function reverse([value]: [string | JsonArray], budget: Budget): JsonValue {
  if (typeof value === 'string') return characters(value, budget).toReversed().join('');
  budget.spend(value.length);
  return value.toReversed();
}

/** JMESPath counts characters, not UTF-16 units. */
function characters(text: string, budget: Budget): readonly string[] {
  budget.spend(text.length);
  return Array.from(text);
}

function merge(objects: JsonObject[], budget: Budget): JsonObject {
  return Object.fromEntries(
    objects.flatMap((object) => keysOf(object, budget).map((key) => [key, object[key] ?? null])),
  );
}

function toNumber([value]: [JsonValue], budget: Budget): JsonValue {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') budget.spend(value.length >> 4);
  const isNumber = typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return isNumber ? Number(value) : null;
}

/** Evaluates `&expression` for each item. The results must be all numbers or all strings. */
function ranks(name: string, list: JsonArray, each: Reference, budget: Budget): JsonArray {
  const results = list.map(each);
  if (ordered.some((type) => isOf(type, results, budget))) return results;
  const types = new Set(results.map(typeOf));
  throw queryError(`&expression of ${name}() must give only numbers or only strings, not ${[...types].join(' and ')}`);
}

/** Returns the item with the highest rank (`sign` 1) or the lowest (`sign` -1); the first of several. */
function best(list: JsonArray, rank: JsonArray, sign: 1 | -1, budget: Budget): JsonValue {
  let chosen = 0;
  for (let index = 1; index < list.length; index += 1) {
    if (order(rank[index], rank[chosen], budget) * sign > 0) chosen = index;
  }
  return list[chosen] ?? null;
}

function sort(list: JsonArray, rank: JsonArray, budget: Budget): JsonArray {
  const places = list.map((_, index) => index).toSorted((left, right) => order(rank[left], rank[right], budget));
  return places.map((place) => list[place] ?? null);
}

/** Orders two numbers or two strings. */
function order(left: JsonValue | undefined, right: JsonValue | undefined, budget: Budget): number {
  if (isEqual(left ?? null, right ?? null, budget)) return 0;
  // The cast is safe: the ranks are all numbers or all strings.
  return (left as string) < (right as string) ? -1 : 1;
}
