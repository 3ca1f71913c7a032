/**
 * Fills the placeholders `{{…}}` in the texts and arguments of a script's rule.
 *
 * Invariants: filling never throws, whatever a tool returned. A missing value becomes the empty string. Filled-in text
 * is not parsed as a template again, so a user cannot insert placeholders.
 */
import type { JsonObject, JsonValue } from '@goondan/types';

/** The values of the placeholders. */
export interface TemplateValues {
  readonly groups: Readonly<Record<string, string | undefined>>;
  /** Called only for a template with `{{input}}`, because this function searches back through the conversation. */
  readonly input: () => string;
  /** Called only for a template with `{{files}}`. */
  readonly files?: () => string;
  /** Absent when the newest message is not a tool result. */
  readonly result?: JsonValue;
}

const placeholders = /\{\{([^{}]+)\}\}/g;
const singlePlaceholder = /^\{\{([^{}]+)\}\}$/;

/** @example fillText('It is {{result.tempC}} degrees.', values) // 'It is 3 degrees.' */
export function fillText(template: string, values: TemplateValues): string {
  return template.replace(placeholders, (_, path: string) => asText(lookUp(path, values)));
}

/** @example fillObject({ days: '{{result.days}}' }, values) // { days: 3 }: the type is kept */
export function fillObject(template: JsonObject, values: TemplateValues): JsonObject {
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillValue(value, values)]));
}

function fillValue(template: JsonValue, values: TemplateValues): JsonValue {
  if (typeof template === 'string') return fillString(template, values);
  if (Array.isArray(template)) return template.map((item) => fillValue(item, values));
  if (typeof template === 'object' && template !== null) return fillObject(template, values);
  return template;
}

function fillString(template: string, values: TemplateValues): JsonValue {
  const path = singlePlaceholder.exec(template)?.[1];
  if (path === undefined) return fillText(template, values);
  const value = lookUp(path, values);
  // Copied, so that a change to the arguments of the new call does not change the tool result.
  return value === undefined ? '' : structuredClone(value);
}

/** Looks up `name` or `name.key.0.key`. `name.list[0]` is the same as `name.list.0`. */
function lookUp(path: string, values: TemplateValues): JsonValue | undefined {
  const [name = '', ...keys] = path
    .trim()
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.');
  let value = lookUpName(name, values);
  for (const key of keys) {
    // Only own fields are read: `{{result.constructor}}` is empty.
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  return value;
}

function lookUpName(name: string, values: TemplateValues): JsonValue | undefined {
  if (name === 'input') return values.input();
  if (name === 'result') return values.result;
  if (Object.hasOwn(values.groups, name)) return values.groups[name];
  return name === 'files' ? values.files?.() : undefined;
}

function asText(value: JsonValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
