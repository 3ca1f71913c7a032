/**
 * Secrets leave the process in no form: their text is replaced wherever something is written down or shown, also when
 * it was JSON-escaped, URL-encoded or printed as part of an object on the way.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';

export type Mask = (text: string) => string;

const SHORTEST_SECRET = 8;

/** Values shorter than 8 characters are not secrets: replacing them would maul ordinary text. */
export function maskSecrets(secrets: readonly string[]): Mask {
  const forms = allForms(secrets);
  if (forms.size === 0) return (text) => text;
  // Longest first, so that a secret that contains another one goes as a whole.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, '***'), text);
}

/** The length of the longest text that is replaced: whoever cuts a text has to look that much further. */
export function longestMasked(secrets: readonly string[]): number {
  return Math.max(0, ...Array.from(allForms(secrets), ({ length }) => length));
}

function allForms(secrets: readonly string[]): ReadonlySet<string> {
  // Printed as part of an object, a text of several lines comes line by line.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  return new Set(parts.filter((part) => part.length >= SHORTEST_SECRET).flatMap(formsOf));
}

/** How a text looks after what usually happens to it before it is written. */
function formsOf(secret: string): string[] {
  // Half a character cannot be URL-encoded; it is shown as the replacement character then.
  const encodable = secret.toWellFormed();
  return [
    // Twice, because JSON is often part of something printed, or of other JSON.
    ...escape(secret).flatMap(escape),
    encodeURIComponent(encodable),
    new URLSearchParams([['', encodable]]).toString().slice(1),
  ];
}

function escape(text: string): string[] {
  return [text, JSON.stringify(text).slice(1, -1), process.getBuiltinModule('node:util').inspect(text).slice(1, -1)];
}

/** The same for every text inside a JSON value, keys too. */
export function maskJson(value: JsonValue, mask: Mask): JsonValue {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskJson(item, mask));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskJson(item, mask)]));
}
