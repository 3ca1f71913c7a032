/**
 * Secrets leave the process in no form: their text is replaced wherever something is written down or shown, also when
 * it was JSON-escaped, URL-encoded or printed as part of an object on the way.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';

export interface Mask {
  (text: string): string;
  /** The length of the longest text that is replaced: whoever cuts a text has to look that much further. */
  readonly longest?: number;
}

/** Where there is nothing to hide. */
export const noSecrets: Mask = (text) => text;

const SHORTEST_SECRET = 8;

/** Values shorter than 8 characters are not secrets: replacing them would maul ordinary text. */
export function maskSecrets(secrets: readonly string[]): Mask {
  // Printed as part of an object, a text of several lines comes line by line.
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
  const forms = new Set(parts.filter((part) => part.length >= SHORTEST_SECRET).flatMap(formsOf));
  if (forms.size === 0) return noSecrets;
  // Longest first, so that a secret that contains another one goes as a whole.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length);
  const mask = (text: string) => ordered.reduce((masked, form) => masked.replaceAll(form, '***'), text);
  return Object.assign(mask, { longest: ordered[0]?.length ?? 0 });
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

/** The same for every text inside a JSON value, keys too. What holds no secret comes back as it is, not as a copy. */
export function maskJson(value: JsonValue, mask: Mask): JsonValue {
  if (mask === noSecrets) return value;
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) {
    const masked = value.map((item) => maskJson(item, mask));
    return masked.some((item, index) => item !== value[index]) ? masked : value;
  }
  if (!isPlainObject(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = [mask(key), maskJson(item, mask)] as const;
    isChanged ||= entry[0] !== key || entry[1] !== item;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
