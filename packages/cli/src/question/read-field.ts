/** Reads what a person typed into one field of a form, and says what may be typed. Pure. */
import type { FormField } from '@goondan/runtime/control';
import { findContentProblem } from '@goondan/runtime/internal';
import type { JsonValue } from '@goondan/types';

export type TypedField =
  | { readonly type: 'value'; readonly value: JsonValue }
  /** The field stays empty. */
  | { readonly type: 'skipped' }
  | { readonly type: 'declined'; readonly note?: string }
  | { readonly type: 'back' }
  | { readonly type: 'problem'; readonly problem: string };

/**
 * `kept`: the value for Enter alone; usually the default of the field. `/decline` and `/back` are never values; a text that
 * begins with two slashes begins with one.
 */
export function readField(field: FormField, text: string, kept = field.default): TypedField {
  const typed = text.trim();
  const [isDeclined, note = ''] = /^\/decline(?:\s+([^]*))?$/i.exec(typed) ?? [];
  if (isDeclined !== undefined) return note === '' ? { type: 'declined' } : { type: 'declined', note };
  if (/^\/back$/i.test(typed)) return { type: 'back' };
  if (/^\/skip$/i.test(typed) || (typed === '' && kept === undefined)) {
    return field.isRequired ? problem(`${field.title} is needed: ${describeInput(field)}.`) : { type: 'skipped' };
  }
  if (typed === '' && kept !== undefined) return check(field, kept);
  const value = readValue(field, typed.replace(/^\/\//, '/'));
  return value === undefined ? problem(`${field.title} must be ${describeInput(field)}.`) : check(field, value);
}

/** Reads a value of `gdn answer NAME=VALUE`. Returns `undefined` if it is not one. */
export function readValue({ type, choices = [] }: FormField, text: string): JsonValue | undefined {
  switch (type) {
    case 'text':
      return text;
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return true;
      return /^(n|no|false)$/i.test(text) ? false : undefined;
    case 'number':
    case 'integer':
      return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
    case 'choice':
      return readChoice(choices, text);
    case 'choices': {
      const read = text.split(',').flatMap((each) => (each.trim() === '' ? [] : [readChoice(choices, each.trim())]));
      return read.every((each) => each !== undefined) ? read : undefined;
    }
  }
}

type Choices = NonNullable<FormField['choices']>;

/**
 * Tells whether people may choose by the numbers of the lines: not if a choice has the number of another line as its name, because
 * a person who types that number could mean both.
 */
export function hasNumbers(choices: Choices): boolean {
  const isOfAnother = (name: string, at: number) => choices.some((_, line) => line !== at && name === String(line + 1));
  return !choices.some(({ value, title }, at) => isOfAnother(value, at) || isOfAnother(title, at));
}

/** A choice is named by its value, its title, its number, or else by a name in another case, if only one fits. */
function readChoice(choices: Choices, text: string): string | undefined {
  const byName = choices.find(({ value }) => value === text) ?? choices.find(({ title }) => title === text);
  const byNumber = /^\d+$/.test(text) && hasNumbers(choices) ? choices[Number(text) - 1] : undefined;
  const isLike = (name: string) => name.toLowerCase() === text.toLowerCase();
  const alike = choices.filter(({ value, title }) => isLike(value) || isLike(title));
  return (byName ?? byNumber ?? (alike.length === 1 ? alike[0] : undefined))?.value;
}

function check(field: FormField, value: JsonValue): TypedField {
  const found = findContentProblem([field], { [field.name]: value });
  return found === undefined ? { type: 'value', value } : problem(`${found}.`);
}

/** Says what may be typed into a field, as in `a whole number from 1 to 9`. */
export function describeInput({ type, choices = [], format, least, most }: FormField): string {
  switch (type) {
    case 'boolean':
      return 'y or n';
    case 'choice':
      return hasNumbers(choices) ? `a name or a number from 1 to ${choices.length}` : 'one of these names';
    case 'choices': {
      const names = hasNumbers(choices) ? `names or numbers from 1 to ${choices.length}` : 'some of these names';
      return `${names} with commas${range(least, most, 'choices')}`;
    }
    case 'number':
    case 'integer':
      return `${type === 'integer' ? 'a whole number' : 'a number'}${range(least, most)}`;
    case 'text':
      return `${format === undefined ? 'a text' : formats[format]}${range(least, most, 'characters')}`;
  }
}

const formats = {
  email: 'an email address',
  uri: 'an address such as https://example.org',
  date: 'a date such as 2026-01-31',
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
};

function range(least: number | undefined, most: number | undefined, unit?: string): string {
  const end = unit === undefined ? '' : ` ${unit}`;
  const start = unit === undefined && least !== undefined && most !== undefined ? ' ' : ', ';
  if (least !== undefined && most !== undefined) return `${start}from ${least} to ${most}${end}`;
  if (least !== undefined) return `, at least ${least}${end}`;
  return most === undefined ? '' : `, at most ${most}${end}`;
}

function problem(text: string): TypedField {
  return { type: 'problem', problem: text };
}
