/**
 * Replaces secrets in every text that is written or shown. So secrets do not leave the process, not even in a
 * JSON-escaped, URL-encoded, base64 or hexadecimal form, or printed as part of an object.
 */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { FormSearch } from './form-search.ts';
import { MaskedStream } from './masked-stream.ts';
import { formsOfSecrets, haveNumbers, SHORTEST_SECRET } from './secret-forms.ts';

export interface Mask {
  (text: string): string;
  /** Masks the beginning of a longer text, and leaves out its end if that may be the beginning of a secret. */
  readonly beginning?: (text: string) => string;
  /** True if a secret may appear as a JSON number. Otherwise numbers are not looked at. */
  readonly hasNumbers?: boolean;
  /** True if there is no secret, so that values need not be looked at. */
  readonly isEmpty?: boolean;
}

export interface SecretMask extends Mask {
  /** Returns the search for all forms of the secrets, which is built when it is first needed. */
  readonly search: () => FormSearch;
}

/** A mask that replaces nothing. */
export const noSecrets: SecretMask = Object.assign((text: string) => text, {
  search: () => new FormSearch([]),
  isEmpty: true,
});

export function maskSecrets(secrets: readonly string[]): SecretMask {
  if (secrets.every(({ length }) => length < SHORTEST_SECRET)) return noSecrets;
  let built: FormSearch | undefined;
  const search = () => (built ??= new FormSearch(formsOfSecrets(secrets)));
  const mask = (text: string) => {
    if (search().lacks(text)) return text;
    const stream = new MaskedStream({ search });
    return stream.push(text) + stream.end();
  };
  const beginning = (text: string) => new MaskedStream({ search }).push(text);
  return Object.assign(mask, { search, beginning, hasNumbers: haveNumbers(secrets) });
}

/** A mask that gets more secrets while it is in use. A secret stays masked forever. */
export interface GrowingMask extends SecretMask {
  add(secrets: readonly string[]): void;
}

export function growingMask(secrets: readonly string[]): GrowingMask {
  const known = new Set(secrets);
  let current = maskSecrets(secrets);
  const mask = (text: string) => current(text);
  return Object.defineProperties(mask, {
    search: { value: () => current.search() },
    beginning: { value: (text: string) => maskBeginning(text, current) },
    hasNumbers: { get: () => current.hasNumbers },
    isEmpty: { get: () => current.isEmpty },
    add: {
      value(more: readonly string[]) {
        if (more.every((secret) => known.has(secret))) return;
        for (const secret of more) known.add(secret);
        current = maskSecrets([...known]);
      },
    },
    // Safe: the properties above are those of a growing mask.
  }) as unknown as GrowingMask;
}

/** Masks a text that was cut: its end may be the beginning of a secret, and is then left out. */
export function maskBeginning(text: string, mask: Mask): string {
  return (mask.beginning ?? mask)(text);
}

/**
 * Masks every text and every number inside a JSON value, including keys. A number that shows a secret becomes a text. A
 * value without secrets is returned itself, not copied.
 */
export function maskJson(value: JsonValue, mask: Mask): JsonValue {
  return maskValue(value, mask, mask.hasNumbers === true);
}

/** Masks like `maskJson`, but leaves numbers: for records whose numbers are counts and times of the runtime. */
export function maskTexts(value: JsonValue, mask: Mask): JsonValue {
  return maskValue(value, mask, false);
}

function maskValue(value: JsonValue, mask: Mask, hasNumbers: boolean): JsonValue {
  if (mask.isEmpty === true) return value;
  if (typeof value === 'string') return mask(value);
  if (hasNumbers && typeof value === 'number') return maskNumber(value, mask);
  if (Array.isArray(value)) {
    return hasSecretItem(value, mask, hasNumbers) ? value.map((item) => maskValue(item, mask, hasNumbers)) : value;
  }
  if (!isPlainObject(value) || !hasSecretField(value, mask, hasNumbers)) return value;
  const entries = Object.entries(value).map(([key, item]) => [mask(key), maskValue(item, mask, hasNumbers)] as const);
  return Object.fromEntries(entries);
}

/** Almost no value has a secret, so nothing is made before one is found. */
function hasSecretItem(value: readonly JsonValue[], mask: Mask, hasNumbers: boolean): boolean {
  for (const item of value) if (maskValue(item, mask, hasNumbers) !== item) return true;
  return false;
}

function hasSecretField(value: Readonly<Record<string, JsonValue>>, mask: Mask, hasNumbers: boolean): boolean {
  for (const key in value) {
    // Safe: `key` is a key of the value.
    const item = value[key] as JsonValue;
    if (mask(key) !== key || maskValue(item, mask, hasNumbers) !== item) return true;
  }
  return false;
}

function maskNumber(value: number, mask: Mask): JsonValue {
  const text = String(value);
  const masked = mask(text);
  return masked === text ? value : masked;
}
