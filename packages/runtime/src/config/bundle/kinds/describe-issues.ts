/**
 * Converts the issues of the schema library to our own texts and codes. For a union, the library reports issues of
 * every form at once; only those of the form that the author most likely meant are kept.
 */
import type { ErrorCode } from '@goondan/types';
import type { z } from 'zod';
import { isPlainObject } from '../../../json/copy-json.ts';
import { showJson } from '../../../json/show-json.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { type Path, pathText, valueAt } from '../place.ts';

export interface Issue {
  readonly code: ErrorCode;
  readonly path: Path;
  /** The part to mark: an unexpected key, or a wrong value. */
  readonly part: 'key' | 'value';
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly isMissing?: boolean;
  /** For an unknown key that is probably mistyped: the path with the corrected key. */
  readonly meantPath?: string | undefined;
}

/**
 * Adds the known keys to an issue about unknown keys, because the library does not list them. Pass this function to the
 * parser.
 */
export function carryKnownKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const definition: unknown = Reflect.get(issue.inst ?? {}, 'def');
  const shape = typeof definition === 'object' && definition !== null && 'shape' in definition ? definition.shape : {};
  return Object.keys(shape ?? {}).join(',');
}

export function describeIssues(issues: readonly z.core.$ZodIssue[], value: unknown): Issue[] {
  const described = issues.flatMap((issue) => [...describe(issue, [], value)]);
  // A mistyped key is reported once, not as an unknown key and a missing one.
  const meant = new Set(described.flatMap(({ meantPath }) => meantPath ?? []));
  return described.filter(({ path, isMissing }) => !(isMissing && meant.has(pathText(path))));
}

function* describe(issue: z.core.$ZodIssue, before: Path, root: unknown): Generator<Issue> {
  // Safe: keys of JSON are texts and numbers.
  const path: Path = [...before, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(',');
    for (const key of issue.keys) yield describeUnknownKey(path, key, known);
    return;
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const mixed = describeMix(issue.errors, path, valueAt(root, path));
    if (mixed !== undefined) {
      yield mixed;
      return;
    }
    const form = chooseForm(issue.errors);
    if (form !== undefined) {
      for (const inner of form) yield* describe(inner, path, root);
      return;
    }
  }
  const written = valueAt(root, path);
  const wanted = wantedBy(issue);
  if (written === undefined) {
    yield {
      ...plain(path, `${nameOf(path)} is missing${wanted === undefined ? '' : `; it must be ${wanted.text}`}.`),
      isMissing: true,
    };
    return;
  }
  const message =
    wanted === undefined
      ? `${nameOf(path)}: ${issue.message}.`
      : `${nameOf(path)} must be ${wanted.text}, not ${showJson(written)}.`;
  const meant = typeof written === 'string' ? closestName(written, wanted?.names ?? []) : undefined;
  yield { ...plain(path, message), ...(meant === undefined ? {} : { suggestion: suggestName(meant, []) }) };
}

function plain(path: Path, message: string): Issue {
  return { code: 'E_RESOURCE_INVALID', path, part: 'value', message };
}

function describeUnknownKey(parent: Path, key: string, known: readonly string[]): Issue {
  const path = [...parent, key];
  // Two issues would ask for the variable that a written text does not need.
  const isPlainText = key === 'value' && known.join() === 'valueFrom';
  const meant = isPlainText ? 'valueFrom' : closestName(key, known);
  return {
    code: 'E_RESOURCE_KEY',
    path,
    part: 'key',
    message: `${parent.length === 0 ? 'A resource' : nameOf(parent)} has no field "${key}".`,
    suggestion: isPlainText ? 'Write the text itself, without `value`.' : suggestName(meant, known),
    meantPath: meant === undefined ? undefined : pathText([...parent, meant]),
  };
}

/** Describes an object that has fields of several forms, or no field at all where every form needs one. */
function describeMix(forms: readonly (readonly z.core.$ZodIssue[])[], path: Path, written: unknown): Issue | undefined {
  if (!isPlainObject(written)) return undefined;
  const names = Object.keys(written);
  if (names.length === 0) {
    const missing = forms.map((issues) => issues.find((issue) => issue.path.length === 1)?.path[0]);
    if (missing.includes(undefined)) return undefined;
    return { ...plain(path, `${nameOf(path)} must have ${missing.map((name) => `"${String(name)}"`).join(' or ')}.`) };
  }
  const foreign = forms.map((issues) =>
    issues.flatMap((issue) => (issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [])),
  );
  const isKnown = (name: string) => foreign.some((keys) => !keys.includes(name));
  if (!names.every(isKnown) || foreign.some((keys) => keys.length === 0)) return undefined;
  const both = [...new Set(foreign.flatMap(([name]) => name ?? []))];
  const [first = ''] = both;
  return {
    code: 'E_RESOURCE_KEY',
    path: [...path, first],
    part: 'key',
    message: `${nameOf(path)} has ${both.map((name) => `"${name}"`).join(' and ')}, which do not go together.`,
    suggestion: 'Keep one of them.',
  };
}

/** Returns the issues of the form that fits best; `undefined` when no form accepts the type of the value. */
function chooseForm(forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const ofItsType = forms.filter(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  return ofItsType.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Weighs issues: issues at the top of a value say more about which form was meant than issues inside it. */
function distance(issues: readonly z.core.$ZodIssue[]): number {
  const weights = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.path.length === 0 ? 10 * issue.keys.length : 1;
    return issue.path.length <= 1 ? 3 : 1;
  });
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** Describes the expected value. `names`: the allowed names, if there are only a few. */
function wantedBy(issue: z.core.$ZodIssue): { text: string; names?: readonly string[] } | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return { text: typeWords[issue.expected] ?? `a ${issue.expected}` };
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'invalid_union': {
      const options: unknown = 'options' in issue ? issue.options : undefined;
      return Array.isArray(options) ? oneOf(options.map(String)) : { text: formsOf(issue.errors) };
    }
    case 'too_small':
      return { text: atLeast(issue.origin, Number(issue.minimum), issue.inclusive ?? true) };
    case 'too_big':
      return { text: `at most ${String(issue.maximum)}` };
    default:
      return undefined;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

function oneOf(names: readonly string[]) {
  return { text: names.length === 1 ? names.join() : `one of ${names.join(', ')}`, names };
}

function formsOf(forms: readonly (readonly z.core.$ZodIssue[])[]): string {
  const words = forms.flatMap((issues) => issues.flatMap((issue) => wantedBy(issue)?.text ?? []));
  return [...new Set(words)].join(' or ') || 'something else';
}

function atLeast(origin: string, least: number, isInclusive: boolean): string {
  if (origin === 'string') return 'a text that is not empty';
  if (origin === 'array') return `a list with at least ${least} item${least === 1 ? '' : 's'}`;
  return isInclusive ? `at least ${least}` : `more than ${least}`;
}

function nameOf(path: Path): string {
  return path.length === 0 ? 'The document' : pathText(path);
}
