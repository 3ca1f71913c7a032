/**
 * Secrets leave the process in no form: their text is replaced wherever something is written down or shown, also when
 * it was JSON-escaped or URL-encoded on the way.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';

export type Mask = (text: string) => string;

const SHORTEST_SECRET = 8;

/** Values shorter than 8 characters are not secrets: replacing them would maul ordinary text. */
export function maskSecrets(secrets: readonly string[]): Mask {
  const forms = new Set(
    secrets
      .filter((secret) => secret.length >= SHORTEST_SECRET)
      .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
  );
  if (forms.size === 0) return (text) => text;
  // Longest first, so that a secret that contains another one goes as a whole.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, '***'), text);
}

/** The same for every text inside a JSON value, keys too. */
export function maskJson(value: JsonValue, mask: Mask): JsonValue {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskJson(item, mask));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskJson(item, mask)]));
}
