/**
 * Checks that a value is JSON, and copies it deeply. So a stored value never shares objects with the given value. No
 * other code checks this.
 */
import type { JsonObject, JsonValue } from '@goondan/types';

export interface CopyJsonOptions {
  /** If true, the copy is deeply frozen. */
  freeze?: boolean;
  /** If true, properties that are `undefined` are left out, as in JSON.stringify. Otherwise they are rejected. */
  omitUndefined?: boolean;
  /** Makes the error to throw instead of {@link NotJson}. */
  refuse?: (problem: NotJson) => Error;
}

/** The error that says where a value is not JSON. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(`${path === '' ? 'the value' : path} is ${problem}`);
  }
}

const DEEPEST = 256;
/** The maximum number of keys in the path of an error: the first ones and the last ones. */
const MOST_KEYS = 16;

/** Returns a deep copy of `value`. Throws a {@link NotJson} error that names the first place that is not JSON. */
export function copyJson(value: unknown, options: CopyJsonOptions = {}): JsonValue {
  const copied = copyQuickly(value, options.freeze === true, options.omitUndefined === true, 0);
  // The walk finds out what is wrong, and where.
  return copied === unfit ? copy(value, { options, above: [], keys: [] }) : copied;
}

/** Returns true if `copyJson` could copy the value. Makes no copy. */
export function isJson(value: unknown, omitUndefined: boolean, depth = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth >= DEEPEST) return false;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (!(item === undefined && omitUndefined) && !isJson(item, omitUndefined, depth + 1)) return false;
    }
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (!(item === undefined && omitUndefined) && !isJson(item, omitUndefined, depth + 1)) return false;
  }
  return true;
}

/** Like {@link copyJson}, but accepts only an object. */
export function copyJsonObject(value: unknown, options: CopyJsonOptions = {}): JsonObject {
  if (!isPlainObject(value)) throw refusal(options, '', `${describe(value)}, not an object`);
  // Safe: the copy of a plain object is a plain object.
  return copyJson(value, options) as JsonObject;
}

/** A plain object that must not be changed; see `isPlainObject`. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Returns true if JSON.parse could have made the object: it is neither an array nor an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Stands for a value that `copyQuickly` cannot copy. */
const unfit = Symbol('unfit');

/**
 * Copies almost every value, without the bookkeeping that an error message needs. A cycle is found by its depth. Returns
 * `unfit` for everything that is not JSON, and for the key `__proto__`.
 */
function copyQuickly(value: unknown, freeze: boolean, omit: boolean, depth: number): JsonValue | typeof unfit {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : unfit;
  if (typeof value !== 'object' || depth >= DEEPEST) return unfit;
  if (Array.isArray(value)) {
    const copied: JsonValue[] = [];
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      const copiedItem = item === undefined && omit ? null : copyQuickly(item, freeze, omit, depth + 1);
      if (copiedItem === unfit) return unfit;
      copied.push(copiedItem);
    }
    return freeze ? (Object.freeze(copied) as JsonValue[]) : copied;
  }
  if (!isPlainObject(value)) return unfit;
  const copied: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined && omit) continue;
    const copiedItem = copyQuickly(item, freeze, omit, depth + 1);
    if (copiedItem === unfit || key === '__proto__') return unfit;
    copied[key] = copiedItem;
  }
  return freeze ? Object.freeze(copied) : copied;
}

/** The state of a running copy: the objects around the current value, and the keys that lead to it. */
interface Walk {
  readonly options: CopyJsonOptions;
  readonly above: object[];
  readonly keys: (string | number)[];
}

function copy(value: unknown, walk: Walk): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw notJson(walk, `${value}, which JSON cannot represent`);
  }
  if (typeof value !== 'object') throw notJson(walk, `${describe(value)}, which JSON cannot represent`);
  const { above, options } = walk;
  if (above.includes(value)) throw notJson(walk, 'part of a cycle');
  if (above.length >= DEEPEST) throw notJson(walk, `nested deeper than ${DEEPEST} levels`);
  above.push(value);
  const copied = Array.isArray(value) ? copyArray(value, walk) : copyObject(value, walk);
  above.pop();
  if (options.freeze) Object.freeze(copied);
  return copied;
}

function copyArray(value: readonly unknown[], walk: Walk): JsonValue[] {
  const copied: JsonValue[] = [];
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    walk.keys.push(index);
    copied.push(item === undefined && walk.options.omitUndefined ? null : copy(item, walk));
    walk.keys.pop();
  }
  return copied;
}

function copyObject(value: object, walk: Walk): JsonObject {
  if (!isPlainObject(value)) throw notJson(walk, `${describe(value)}, not a plain object`);
  const copied: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined && walk.options.omitUndefined) continue;
    walk.keys.push(key);
    const copiedItem = copy(item, walk);
    walk.keys.pop();
    if (key === '__proto__') {
      // For the key `__proto__`, plain assignment would set the prototype instead of a property.
      Object.defineProperty(copied, key, { value: copiedItem, enumerable: true, configurable: true, writable: true });
    } else copied[key] = copiedItem;
  }
  return copied;
}

function notJson({ keys, options }: Walk, problem: string): Error {
  const isLong = keys.length > MOST_KEYS;
  // Whole keys are left out, because half a secret in a key would not be masked.
  const path = isLong ? `${pathOf(keys.slice(0, MOST_KEYS / 2))}…${pathOf(keys.slice(-MOST_KEYS / 2))}` : pathOf(keys);
  return refusal(options, path.replace(/^\./, ''), problem);
}

function pathOf(keys: Walk['keys']): string {
  return keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
}

function refusal({ refuse }: CopyJsonOptions, path: string, problem: string): Error {
  const error = new NotJson(path, problem);
  return refuse === undefined ? error : refuse(error);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'object')
    return Array.isArray(value) ? 'an array' : `a ${value.constructor?.name ?? 'foreign object'}`;
  if (value === undefined) return 'undefined';
  return `a ${typeof value}`;
}
