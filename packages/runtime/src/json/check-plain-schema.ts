/**
 * Checks values against plain schemas: those of most tools, which have only the keywords below. The validator is not
 * used for them, because loading it and compiling a first schema costs every agent process that calls a tool.
 *
 * The rules, their order and their messages are those of `ajv`; `check-plain-schema.test.ts` compares the results of
 * this file with those of `ajv`.
 */
import type { JsonSchema } from '@goondan/types';
import { type SchemaProblem, schemaProblem, unknownFieldProblem } from './find-schema-problem.ts';
import { isObject } from './is-object.ts';

type Fields = Readonly<Record<string, unknown>>;
/** The place of a value, from inside to outside. A path is made of it only for a problem. */
type Place = { readonly name: string | number; readonly within: Place } | undefined;
/** Adds the problems of a value, which is at this place. */
type Check = (value: unknown, place: Place, problems: SchemaProblem[]) => void;
/** Makes the check of a keyword from the keyword's value. Returns `undefined` if only the validator can check it. */
type Rule = (wanted: unknown, schema: Fields) => Check | undefined;

/** Returns the check of a valid schema; `undefined` if only the validator can check it. */
export function checkPlainSchema(schema: JsonSchema): ((value: unknown) => readonly SchemaProblem[]) | undefined {
  const check = checkOf(schema);
  if (check === undefined) return undefined;
  return (value) => {
    const problems: SchemaProblem[] = [];
    check(value, undefined, problems);
    return problems;
  };
}

/** The keyword for a text that names a model of the agent. Its value is `Model`. Bundles are checked for it. */
export const MODEL_REFERENCE = 'x-goondan-ref';

/** Keywords that say nothing about values. */
const remarks = ['title', 'description', 'default', 'examples', '$comment', MODEL_REFERENCE];

const isAtMost = (value: number, wanted: number) => value <= wanted;
const isAtLeast = (value: number, wanted: number) => value >= wanted;
const countItems = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** The keywords for each type of values, in the order of the validator. Without a type they are for all values. */
const groups: readonly { readonly type?: string; readonly rules: readonly (readonly [keyword: string, Rule])[] }[] = [
  {
    rules: [
      ['const', equalConstant],
      ['enum', equalOne],
    ],
  },
  {
    type: 'number',
    rules: [
      ['maximum', limit('be <= #', isAtMost)],
      ['minimum', limit('be >= #', isAtLeast)],
      ['exclusiveMaximum', limit('be < #', (value, wanted) => value < wanted)],
      ['exclusiveMinimum', limit('be > #', (value, wanted) => value > wanted)],
    ],
  },
  {
    type: 'string',
    rules: [
      ['maxLength', limit('NOT have more than # characters', isAtMost, countCharacters)],
      ['minLength', limit('NOT have fewer than # characters', isAtLeast, countCharacters)],
      ['pattern', matchPattern],
    ],
  },
  {
    type: 'array',
    rules: [
      ['maxItems', limit('NOT have more than # items', isAtMost, countItems)],
      ['minItems', limit('NOT have fewer than # items', isAtLeast, countItems)],
      ['items', checkItems],
    ],
  },
  {
    type: 'object',
    rules: [
      ['required', requireFields],
      ['additionalProperties', checkOtherFields],
      ['properties', checkFields],
    ],
  },
];

const known = new Set([...remarks, 'type', ...groups.flatMap(({ rules }) => rules.map(([keyword]) => keyword))]);

function checkOf(schema: unknown): Check | undefined {
  if (!isObject(schema) || !Object.keys(schema).every((keyword) => known.has(keyword))) return undefined;
  const types: readonly unknown[] = schema['type'] === undefined ? [] : [schema['type']].flat();
  const checkType = demand(
    (value) => types.some((type) => hasType(value, type)),
    () => `be ${types.join(',')}`,
  );
  const used = groups.filter(({ rules }) => rules.some(([keyword]) => schema[keyword] !== undefined));
  // The validator checks a single type after the keywords of that type, and otherwise before all keywords.
  const isLater = types.length === 1 && used.some(({ type }) => type === types[0]);
  const checks = types.length === 0 || isLater ? [] : [checkType];
  for (const { type, rules } of used) {
    const ofGroup: Check[] = [];
    for (const [keyword, rule] of rules) {
      if (schema[keyword] === undefined) continue;
      const check = rule(schema[keyword], schema);
      if (check === undefined) return undefined;
      ofGroup.push(check);
    }
    checks.push((value, place, problems) => {
      if (type === undefined || hasType(value, type)) for (const check of ofGroup) check(value, place, problems);
    });
    if (isLater && type === types[0]) checks.push(checkType);
  }
  return (value, place, problems) => {
    for (const check of checks) check(value, place, problems);
  };
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'number') return Number.isFinite(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** Makes a check with one problem, whose message begins with `must`. */
function demand(fits: (value: unknown) => boolean, problem: () => string): Check {
  return (value, place, problems) => {
    if (!fits(value)) problems.push(problemAt(place, `must ${problem()}`));
  };
}

function problemAt(place: Place, problem: string): SchemaProblem {
  return schemaProblem(pathOf(place), problem);
}

function pathOf(place: Place): string[] {
  const path: string[] = [];
  for (let at = place; at !== undefined; at = at.within) path.unshift(String(at.name));
  return path;
}

/** Counts a surrogate pair as one character, without a copy of the text. */
function countCharacters(value: unknown): number {
  const text = String(value);
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

function limit(
  problem: string,
  fits: (value: number, wanted: number) => boolean,
  measure: (value: unknown) => number = Number,
): Rule {
  return (wanted) =>
    demand(
      (value) => fits(measure(value), Number(wanted)),
      () => problem.replace('#', String(wanted)),
    );
}

function matchPattern(wanted: unknown): Check | undefined {
  let pattern: RegExp;
  try {
    pattern = new RegExp(String(wanted), 'u');
  } catch {
    // The validator reports the mistake in the pattern.
    return undefined;
  }
  return demand(
    (value) => pattern.test(String(value)),
    () => `match pattern "${String(wanted)}"`,
  );
}

function equalConstant(wanted: unknown): Check | undefined {
  if (isCompound(wanted)) return undefined;
  return demand(
    (value) => value === wanted,
    () => 'be equal to constant',
  );
}

function equalOne(wanted: unknown): Check | undefined {
  if (!Array.isArray(wanted) || wanted.some(isCompound)) return undefined;
  return demand(
    (value) => wanted.some((each) => each === value),
    () => `be equal to one of the allowed values (${JSON.stringify(wanted)})`,
  );
}

function checkItems(wanted: unknown): Check | undefined {
  const check = checkOf(wanted);
  if (check === undefined) return undefined;
  return (value, place, problems) => {
    if (!Array.isArray(value)) return;
    for (let index = 0; index < value.length; index += 1) check(value[index], { name: index, within: place }, problems);
  };
}

function requireFields(wanted: unknown): Check | undefined {
  if (!Array.isArray(wanted) || wanted.includes(STRANGE)) return undefined;
  const names = wanted.map(String);
  return (value, place, problems) => {
    for (const name of names) {
      if (fieldOf(value, name) === undefined) problems.push(problemAt(place, `must have required property '${name}'`));
    }
  };
}

function checkOtherFields(wanted: unknown, { properties }: Fields): Check | undefined {
  if (wanted === true) return () => undefined;
  const named = new Set(isObject(properties) ? Object.keys(properties) : []);
  const check = wanted === false ? undefined : checkOf(wanted);
  if (wanted !== false && check === undefined) return undefined;
  return (value, place, problems) => {
    if (!isObject(value)) return;
    for (const name of Object.keys(value).filter((each) => !named.has(each))) {
      if (check !== undefined) check(value[name], { name, within: place }, problems);
      else problems.push(unknownFieldProblem(pathOf(place), name));
    }
  };
}

function checkFields(wanted: unknown): Check | undefined {
  if (!isObject(wanted) || Object.hasOwn(wanted, STRANGE)) return undefined;
  const checks: (readonly [name: string, check: Check])[] = [];
  for (const [name, schema] of Object.entries(wanted)) {
    const check = checkOf(schema);
    if (check === undefined) return undefined;
    checks.push([name, check]);
  }
  return (value, place, problems) => {
    for (const [name, check] of checks) {
      const field = fieldOf(value, name);
      if (field !== undefined) check(field, { name, within: place }, problems);
    }
  };
}

/** The name of a field that the validator leaves out, in some of its keywords. */
const STRANGE = '__proto__';

/** Reads a field of the value itself, not an inherited one, as the validator does. */
function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
