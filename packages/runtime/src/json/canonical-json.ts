import type { JsonValue } from '@goondan/types';

/** Returns equal texts for equal values, regardless of the order of their keys. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).toSorted()) {
    const entry = `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`;
    text += text === '' ? entry : `,${entry}`;
  }
  return `{${text}}`;
}
