/**
 * Replaces secrets in every text that is written or shown. So secrets do not leave the process, not even in a
 * JSON-escaped, URL-encoded, base64 or hexadecimal form, or printed as part of an object.
 */
import { isErrorCode, type JsonObject, type JsonValue } from '@goondan/types';
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

/** Returns the same value as long as the mask has the same secrets; another value each time if that is unknown. */
export function versionOf(mask: Mask | SecretMask): unknown {
  if (mask.isEmpty === true) return undefined;
  return 'search' in mask ? mask.search() : {};
}

/** Masks a text that was cut: its end may be the beginning of a secret, and is then left out. */
export function maskBeginning(text: string, mask: Mask): string {
  return (mask.beginning ?? mask)(text);
}

/** Masks the code of an error that bundle code threw. A code of the catalogue stays, because programs compare it. */
export function maskCode(code: string, mask: Mask): string {
  return isErrorCode(code) ? code : mask(code);
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
  if (Array.isArray(value)) return maskItems(value, mask, hasNumbers);
  return isPlainObject(value) ? maskFields(value, mask, hasNumbers) : value;
}

/** Makes no copy before it finds a secret, because almost no value has one. Looks at each item once. */
function maskItems(items: JsonValue[], mask: Mask, hasNumbers: boolean): JsonValue[] {
  for (const [at, item] of items.entries()) {
    const masked = maskValue(item, mask, hasNumbers);
    if (masked === item) continue;
    const rest = items.slice(at + 1).map((each) => maskValue(each, mask, hasNumbers));
    return items.slice(0, at).concat([masked], rest);
  }
  return items;
}

/** Like `maskItems`, for the keys and values of an object. */
function maskFields(fields: JsonObject, mask: Mask, hasNumbers: boolean): JsonObject {
  let before = 0;
  for (const key in fields) {
    // Safe: `key` is a key of the object.
    const item = fields[key] as JsonValue;
    const entry = [mask(key), maskValue(item, mask, hasNumbers)] as const;
    if (entry[0] !== key || entry[1] !== item) {
      const entries = Object.entries(fields);
      const rest = entries.slice(before + 1).map(([name, each]) => [mask(name), maskValue(each, mask, hasNumbers)]);
      return Object.fromEntries([...entries.slice(0, before), entry, ...rest]);
    }
    before += 1;
  }
  return fields;
}

function maskNumber(value: number, mask: Mask): JsonValue {
  const text = String(value);
  const masked = mask(text);
  return masked === text ? value : masked;
}
