/** Describes the fields of a form, and their values, for people. Pure. */
import type { FormField } from '@goondan/runtime/control';
import type { JsonValue } from '@goondan/types';
import { describeInput, hasNumbers } from './read-field.ts';
import { showText } from './show-text.ts';

/**
 * Describes a field: its title, its description and its choices. `place`: such as `1 of 3`, if the person is asked for it now;
 * without it also the default, which is sent for a field that the person leaves out.
 */
export function describeField(field: FormField, place?: string): readonly string[] {
  const { title, name, description, choices = [], isRequired } = field;
  const named = hasId(title, name) ? showText(title) : `${showText(title)} (${showText(name)})`;
  const where = place === undefined ? '' : ` (${place})`;
  const kept =
    place !== undefined || field.default === undefined ? '' : `, default ${describeValue(field, field.default)}`;
  return [
    `${named}${where}: ${describeInput(field)}${isRequired ? '' : ', optional'}${kept}`,
    ...(description === undefined ? [] : [`    ${showText(description)}`]),
    ...describeChoices(choices).map((choice) => `    ${showText(choice)}`),
  ];
}

/** Without numbers, a choice is also named by its value, which could be a number. */
function describeChoices(choices: NonNullable<FormField['choices']>): readonly string[] {
  if (hasNumbers(choices)) return choices.map(({ title }, at) => `${at + 1}  ${title}`);
  return choices.map(({ title, value }) => `-  ${title}${hasId(title, value) ? '' : ` (${JSON.stringify(value)})`}`);
}

/** Returns true if the title tells the name of its field, or the value of its choice, as titles that look alike do. */
function hasId(title: string, id: string): boolean {
  return title === id || title.endsWith(` (${JSON.stringify(id)})`);
}

/** `kept`: the value for Enter alone. */
export function promptOfField(field: FormField, kept: JsonValue | undefined): string {
  const nothing = field.isRequired ? '' : ' [Enter skips]';
  return `${showText(field.title)}${kept === undefined ? nothing : ` [Enter: ${describeValue(field, kept)}]`}: `;
}

/** Shows a value as the person knows it: choices by their titles. */
export function describeValue({ choices = [] }: FormField, value: JsonValue | undefined): string {
  if (value === undefined) return '(left out)';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const title = (each: JsonValue) =>
    choices.find((choice) => choice.value === each)?.title ?? (typeof each === 'string' ? each : JSON.stringify(each));
  return showText(Array.isArray(value) ? value.map(title).join(', ') : title(value));
}
