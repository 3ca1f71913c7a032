/** Reads values of a delivery by path, such as `body.issue.title`, and inserts them into templates with `{{…}}`. */
import type { JsonPrimitive } from '@goondan/types';

/** Returns the value at a path, or `undefined` if there is none. Inherited properties are ignored. */
export function valueAt(root: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return Reflect.get(value, key);
  }, root);
}

/**
 * Replaces each `{{…}}` with its value: a text is inserted unchanged, and any other value as JSON. For a missing value,
 * nothing is inserted. Inserted values are not expanded again.
 */
export function fillTemplate(template: string, values: unknown): string {
  return template.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => {
    const value = valueAt(values, path);
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

export function isPrimitive(value: unknown): value is JsonPrimitive {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
