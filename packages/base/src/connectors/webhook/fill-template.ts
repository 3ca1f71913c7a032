/** Values of a delivery by their place, such as `body.issue.title`, and texts with `{{…}}` filled from them. */
import type { JsonPrimitive } from '@goondan/types';

/** `undefined` for what is not there; only what an object itself has counts. */
export function valueAt(root: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return Reflect.get(value, key);
  }, root);
}

/** Texts as they are, nothing for what is not there, the rest as JSON. Filled-in values are not expanded again. */
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
