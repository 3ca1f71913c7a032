/** Reads the answers of `gdn approve`, `gdn deny` and `gdn answer` from the command line. */
import { readFile } from 'node:fs/promises';
import type { QuestionSummary } from '@goondan/runtime';
import { type FormField, readForm } from '@goondan/runtime/control';
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { checkFile } from '../check-file.ts';
import { readJsonObject } from './edited-json.ts';
import { describeInput, readValue } from './read-field.ts';
import { showText } from './show-text.ts';

/** The maximum number of choices that an error names. */
const MOST_NAMED = 20;

/** Reads `JSON` or `@file`. **Errors** — `E_USAGE`, with the place of the mistake. */
export async function readJsonOption(flag: string, given: string): Promise<JsonObject> {
  const text = given.startsWith('@') ? await readText(given.slice(1)) : given;
  const read = readJsonObject(text);
  if ('value' in read) return read.value;
  throw new GoondanError('E_USAGE', `${flag}: ${read.problem}`, {
    suggestion: `Type a JSON object in quotes, as in \`${flag} '{"name": "value"}'\`, or name a file with \`@\`.`,
  });
}

async function readText(path: string): Promise<string> {
  const { place, refuse, piped } = await checkFile(path);
  if (piped !== undefined) return piped.toString();
  return readFile(place, 'utf8').catch((error: unknown) => {
    throw refuse(error);
  });
}

/**
 * Reads `name=value` for each field of a form. The only field of a form needs no name. Fields that are not named get their
 * default. **Errors** — `E_QUESTION_REPLY`, with the name of the field.
 */
export function readFormValues({ id, schema }: QuestionSummary, values: readonly string[]): JsonObject {
  const fields = readForm(schema);
  if ('problem' in fields) throw wrong(id, fields.problem, '`gdn deny` can decline it.');
  const named = values.map((each) => readNamed(fields, each, id));
  const twice = named.find(([name], at) => named.findIndex(([other]) => other === name) !== at);
  if (twice !== undefined) throw wrong(id, `${twice[0]} is given twice`);
  const content = new Map<string, JsonValue>(named);
  const entries = fields.flatMap((field): [string, JsonValue][] => {
    const value = content.get(field.name) ?? field.default;
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(entries);
}

function readNamed(fields: readonly FormField[], given: string, id: string): [string, JsonValue] {
  const [name = '', ...rest] = given.split('=');
  const only = fields.length === 1 ? fields[0] : undefined;
  const field = rest.length === 0 ? only : (fields.find((each) => each.name === name) ?? only);
  if (field === undefined) {
    const names = fields.map((each) => each.name).join(', ');
    throw wrong(id, `${JSON.stringify(name)} is not a field of the form`, `Its fields are: ${names}. Type NAME=VALUE.`);
  }
  const isNamed = rest.length > 0 && field.name === name;
  const value = readValue(field, isNamed ? rest.join('=') : given);
  if (value === undefined) throw wrong(id, `${field.name} must be ${describeValues(field)}`);
  return [field.name, value];
}

/** Names the choices of a field. Numbers are good only for a person who sees the list. */
function describeValues(field: FormField): string {
  const { type, choices = [] } = field;
  if (type !== 'choice' && type !== 'choices') return describeInput(field);
  const names = choices.slice(0, MOST_NAMED).map(({ title }) => showText(title));
  const more = choices.length > names.length ? ', …' : '';
  return `${type === 'choice' ? 'one of' : 'one or more, with commas, of'}: ${names.join(', ')}${more}`;
}

function wrong(id: string, problem: string, suggestion?: string): GoondanError {
  const message = `The answer to the question "${id}" does not fit: ${problem}.`;
  return new GoondanError('E_QUESTION_REPLY', message, suggestion === undefined ? {} : { suggestion });
}
