/**
 * Cleans the form of a server before a person sees it. Titles and descriptions are cleaned. Names and values go back to the
 * server unchanged, so a form is refused if they have characters that people cannot see.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { cleanText } from '../../text/clean-text.ts';
import { McpFailure } from './mcp-failure.ts';

/** The maximum length of a title or a description. */
const LONGEST_TEXT = 1_000;
/** The maximum length of the name of a field, or of a choice. */
const LONGEST_NAME = 200;

/** Keywords of a field whose values are numbers or formats, which the runtime checks. */
const plain = ['type', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'];

/** Returns the form with the keywords that forms have. **Errors** — a `McpFailure`. */
export function cleanForm({ properties, required }: JsonObject): JsonObject {
  const fields = Object.entries(isObject(properties) ? properties : {});
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [visible(name), cleanField(field)])),
    ...(required === undefined ? {} : { required }),
  };
}

function cleanField(field: JsonValue): JsonValue {
  if (!isObject(field)) return field;
  const kept = plain.flatMap((key) => (field[key] === undefined ? [] : [[key, field[key]] as const]));
  const { items } = field;
  return {
    ...Object.fromEntries(kept),
    ...textsOf(field),
    ...choicesOf(field, 'oneOf'),
    ...(isObject(items) ? { items: { ...typeOf(items), ...choicesOf(items, 'anyOf') } } : {}),
    ...(field.default === undefined ? {} : { default: visibleDefault(field.default) }),
  };
}

function textsOf(field: JsonObject): JsonObject {
  const texts = (['title', 'description'] as const).flatMap((key) => {
    const text = field[key];
    return typeof text === 'string' ? [[key, cleanText(text, LONGEST_TEXT)] as const] : [];
  });
  return Object.fromEntries(texts);
}

function typeOf({ type }: JsonObject): JsonObject {
  return type === undefined ? {} : { type };
}

/** Returns the choices of a field. Titles in the old form, `enumNames`, get the new form. */
function choicesOf(field: JsonObject, key: 'oneOf' | 'anyOf'): JsonObject {
  const { enum: values, enumNames: names } = field;
  const titled = field[key];
  if (Array.isArray(titled))
    return { [key]: titled.map((each) => (isObject(each) ? choice(each.const, each.title) : each)) };
  if (!Array.isArray(values)) return {};
  if (!Array.isArray(names)) return { enum: values.map((value) => visibleValue(value)) };
  return { [key]: values.map((value, at) => choice(value, names[at])) };
}

function choice(value: JsonValue | undefined, title: JsonValue | undefined): JsonObject {
  const shown = typeof title === 'string' ? cleanText(title, LONGEST_NAME) : '';
  return { const: visibleValue(value ?? null), ...(shown.trim() === '' ? {} : { title: shown }) };
}

function visibleDefault(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.map((each) => visibleValue(each)) : visibleValue(value, 64_000);
}

function visibleValue(value: JsonValue, longest = LONGEST_NAME): JsonValue {
  return typeof value === 'string' ? visible(value, longest) : value;
}

function visible(text: string, longest = LONGEST_NAME): string {
  if (cleanText(text, longest) === text) return text;
  const shown = cleanText(text, 40);
  throw new McpFailure(
    'question',
    `its form has a name or a value with invisible characters, or a too long one: "${shown}".`,
  );
}
