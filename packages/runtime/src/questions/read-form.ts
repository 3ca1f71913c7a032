/**
 * Reads the form of a question. A form is a JSON Schema of an object with flat fields, as MCP servers send it for an
 * elicitation. Pure; it runs in every process, and in the browser.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../json/is-object.ts';

export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly default?: JsonValue;
  readonly type: 'text' | 'choice' | 'choices' | 'number' | 'integer' | 'boolean';
  /** Of `choice` and `choices`. */
  readonly choices?: readonly FormChoice[];
  /** Of `text`. */
  readonly format?: (typeof formats)[number];
  /** The smallest and largest number, or the fewest and most characters or choices. */
  readonly least?: number;
  readonly most?: number;
}

export interface FormChoice {
  readonly value: string;
  readonly title: string;
}

export const MOST_FIELDS = 20;
export const LONGEST_FORM = 64_000;
const formats = ['email', 'uri', 'date', 'date-time'] as const;
const MOST_CHOICES = 500;

/** Returns the fields of a form, or the problem with it as the end of a sentence. */
export function readForm(schema: unknown): readonly FormField[] | { readonly problem: string } {
  if (!isObject(schema)) return { problem: 'its form is not a JSON Schema' };
  if (new TextEncoder().encode(JSON.stringify(schema)).length > LONGEST_FORM)
    return { problem: `its form has more than ${LONGEST_FORM} bytes` };
  const { type, properties, required = [] } = schema;
  if (type !== 'object' || !isObject(properties)) return { problem: 'its form must have type object, and properties' };
  if (!Array.isArray(required)) return { problem: 'required of its form is not a list' };
  const names = Object.keys(properties);
  const unknown = required.find((name) => typeof name !== 'string' || !names.includes(name));
  if (unknown !== undefined) return { problem: `its form requires ${JSON.stringify(unknown)}, which is not a field` };
  if (names.length > MOST_FIELDS) return { problem: `its form has ${names.length} fields; ${MOST_FIELDS} are allowed` };
  const fields: FormField[] = [];
  for (const name of names) {
    const field = readField(name, properties[name], required.includes(name));
    if ('problem' in field) return field;
    fields.push(field);
  }
  return tellApart(fields, ({ name }) => name);
}

function readField(name: string, schema: unknown, isRequired: boolean): FormField | { readonly problem: string } {
  if (!isObject(schema)) return wrong(name, 'is not a schema');
  const { title, description } = schema;
  const head = {
    name,
    title: typeof title === 'string' && title !== '' ? title : name,
    isRequired,
    ...(typeof description === 'string' && { description }),
    // Safe: a schema is JSON.
    ...(schema['default'] !== undefined && { default: schema['default'] as JsonValue }),
  };
  switch (schema['type']) {
    case 'string':
      return readText(name, schema, head);
    case 'number':
    case 'integer':
      return limited(schema, { ...head, type: schema['type'] }, 'minimum', 'maximum');
    case 'boolean':
      return { ...head, type: 'boolean' };
    case 'array': {
      const { items } = schema;
      const choices = isObject(items) ? readChoices(items, 'anyOf') : undefined;
      if (choices === undefined) return wrong(name, 'is a list whose items are not choices');
      if (hasTwice(choices)) return wrong(name, 'has the same choice twice');
      return limited(schema, { ...head, type: 'choices', choices }, 'minItems', 'maxItems');
    }
    default:
      return wrong(name, 'must be a text, a choice, a number, or a boolean');
  }
}

function readText(
  name: string,
  schema: Fields,
  head: Omit<FormField, 'type'>,
): FormField | { readonly problem: string } {
  if (schema['enum'] !== undefined || schema['oneOf'] !== undefined) {
    const choices = readChoices(schema, 'oneOf');
    if (choices === undefined) return wrong(name, 'has choices that are not texts');
    return hasTwice(choices) ? wrong(name, 'has the same choice twice') : { ...head, type: 'choice', choices };
  }
  const format = formats.find((each) => each === schema['format']);
  return limited(schema, { ...head, type: 'text', ...(format && { format }) }, 'minLength', 'maxLength');
}

/** Reads the choices of `enum`, with the titles of `enumNames`, or of a list of `const` and `title`. */
function readChoices(schema: Fields, list: 'oneOf' | 'anyOf'): readonly FormChoice[] | undefined {
  const titled = schema[list];
  const names: unknown = schema['enumNames'];
  const found: unknown[] = Array.isArray(titled)
    ? titled.map((each: unknown) => (isObject(each) ? [each['const'], each['title']] : []))
    : Array.isArray(schema['enum'])
      ? schema['enum'].map((value: unknown, at) => [value, Array.isArray(names) ? (names[at] as unknown) : undefined])
      : [];
  const choices = found.flatMap((each) => {
    const [value, title] = each as unknown[];
    return typeof value === 'string' ? [{ value, title: typeof title === 'string' ? title : value }] : [];
  });
  const isFit = choices.length > 0 && choices.length === found.length && choices.length <= MOST_CHOICES;
  return isFit ? tellApart(choices, ({ value }) => value) : undefined;
}

/** Two choices with one value may have different titles, and nobody could tell which of them was chosen. */
function hasTwice(choices: readonly FormChoice[]): boolean {
  return new Set(choices.map(({ value }) => value)).size !== choices.length;
}

/**
 * Adds to each title what identifies its field or choice, if a person could take one for another: if two titles look alike, or
 * one looks like the name or the value of another.
 */
function tellApart<Titled extends { readonly title: string }>(
  all: readonly Titled[],
  idOf: (each: Titled) => string,
): readonly Titled[] {
  const look = (text: string) => text.normalize('NFKC').trim().toLowerCase();
  const looks = all.map((each) => new Set([look(each.title), look(idOf(each))]));
  const isAlike = new Set(looks.flatMap((each) => [...each])).size < looks.reduce((sum, each) => sum + each.size, 0);
  if (!isAlike) return all;
  return all.map((each) => ({ ...each, title: `${each.title} (${JSON.stringify(idOf(each))})` }));
}

function limited(schema: Fields, field: FormField, low: string, high: string): FormField {
  const [least, most] = [schema[low], schema[high]];
  return { ...field, ...(typeof least === 'number' && { least }), ...(typeof most === 'number' && { most }) };
}

/** Returns the first problem of a filled form, as a sentence that begins with the name of the field. */
export function findContentProblem(fields: readonly FormField[], content: JsonObject): string | undefined {
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return `${unknown} is not a field of the form`;
  for (const field of fields) {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    if (value === undefined) {
      if (field.isRequired) return `${field.name} is required`;
      continue;
    }
    const problem = findValueProblem(field, value);
    if (problem !== undefined) return `${field.name} ${problem}`;
  }
  return undefined;
}

function findValueProblem(field: FormField, value: JsonValue): string | undefined {
  const { type, choices = [], format, isRequired } = field;
  const isChoice = (each: unknown) => choices.some((choice) => choice.value === each);
  const list = () => choices.map((choice) => JSON.stringify(choice.value)).join(', ');
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return isChoice(value) ? undefined : `must be one of ${list()}`;
    case 'choices':
      if (!Array.isArray(value) || !value.every(isChoice)) return `must be a list of ${list()}`;
      if (new Set(value).size !== value.length) return 'must not have the same choice twice';
      return findLimitProblem(field, value.length, 'choices');
    case 'text':
      if (typeof value !== 'string') return 'must be a text';
      // A form that takes an empty text for a required one says so.
      if (value === '' && isRequired && field.least === undefined) return 'is required, and empty';
      if (format !== undefined && !isOfFormat(format, value)) return `must be ${formatNames[format]}`;
      return findLimitProblem(field, Array.from(value).length, 'characters');
    default:
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
      return findLimitProblem(field, value);
  }
}

function findLimitProblem({ least, most }: FormField, value: number, unit?: string): string | undefined {
  const words = (limit: number) => (unit === undefined ? `be ${limit}` : `have ${limit} ${unit}`);
  if (least !== undefined && value < least) return `must ${words(least)} or more`;
  if (most !== undefined && value > most) return `must ${words(most)} or less`;
  return undefined;
}

function isOfFormat(format: NonNullable<FormField['format']>, value: string): boolean {
  if (!patterns[format].test(value)) return false;
  return (format !== 'date' && format !== 'date-time') || isDay(value.slice(0, 10));
}

/** True if the calendar has this day: the 30th of February has the form of a date only. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const patterns = {
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time':
    /^\d{4}-\d{2}-\d{2}[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?$/,
};

const formatNames = {
  email: 'an email address',
  uri: 'an address with its scheme, such as https://',
  date: 'a date such as 2026-01-31',
  'date-time': 'a date and a time such as 2026-01-31T12:00:00Z',
};

type Fields = Readonly<Record<string, unknown>>;

function wrong(name: string, problem: string): { readonly problem: string } {
  return { problem: `the field ${JSON.stringify(name)} of its form ${problem}` };
}
