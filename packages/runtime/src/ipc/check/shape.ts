/**
 * Checks that are written by hand, because importing zod or ajv would cost a child process start time and memory. A
 * check takes an unknown value and returns it typed, or throws a {@link ShapeError} with the place and the reason. A
 * checked object has only the fields of its shape, so that no unchecked data gets into the process.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';

export type Check<Value> = (value: unknown) => Value;

/** The error that says where a value differs from its shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
  constructor(
    readonly problem: string,
    readonly path = '',
  ) {
    super(`${path === '' ? 'it' : cut(path, LONGEST_PATH)} ${problem}`);
  }

  /** Returns the same error, with its path extended by the enclosing key. */
  under(key: string | number): ShapeError {
    const step = typeof key === 'number' ? `[${key}]` : key;
    const joint = this.path === '' || this.path.startsWith('[') ? '' : '.';
    return new ShapeError(this.problem, `${step}${joint}${this.path}`);
  }
}

/** A name or an id. It must not be empty or longer than `LONGEST_NAME`. */
export const name: Check<string> = (value) => {
  if (typeof value !== 'string' || value === '') throw new ShapeError(`is ${describe(value)}, not a text`);
  if (value.length > LONGEST_NAME) throw new ShapeError(`has ${value.length} characters; ${LONGEST_NAME} are allowed`);
  return value;
};

/** Any text, even an empty one. */
export const text: Check<string> = (value) => {
  if (typeof value !== 'string') throw new ShapeError(`is ${describe(value)}, not a text`);
  return value;
};

export const flag: Check<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new ShapeError(`is ${describe(value)}, neither true nor false`);
  return value;
};

/** A whole number: 0, 1, 2, … */
export const count: Check<number> = (value) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ShapeError(`is ${describe(value)}, not a whole number of at least 0`);
  }
  return value;
};

export const number: Check<number> = (value) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new ShapeError(`is ${describe(value)}, not a number`);
  return value;
};

/** A number from 0 on, also a fraction. */
export const amount: Check<number> = (value) => {
  const checked = number(value);
  if (checked < 0) throw new ShapeError(`is ${checked}, not a number of at least 0`);
  return checked;
};

/**
 * The only check for dates. A date is a `Date` before it is sent and after it is received, and ISO 8601 text in the
 * frame.
 */
export const date: Check<Date> = (value) => {
  const moment =
    value instanceof Date ? value : new Date(typeof value === 'string' && isoDate.test(value) ? value : NaN);
  if (Number.isNaN(moment.getTime())) throw new ShapeError(`is ${describe(value)}, not a date`);
  return moment;
};

/** Any JSON value. The value is not copied, because no other code has access to a value parsed from a frame. */
export const json: Check<JsonValue> = (value) => {
  checkJson(value, []);
  // Safe: the walk found nothing that is not JSON.
  return value as JsonValue;
};

export const jsonObject: Check<JsonObject> = (value) => {
  if (!isPlainObject(value)) throw new ShapeError(`is ${describe(value)}, not an object`);
  // Safe: a plain object that is JSON is a JSON object.
  return json(value) as JsonObject;
};

export function oneOf<const Value extends string>(...values: readonly Value[]): Check<Value> {
  return (value) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw new ShapeError(`is ${describe(value)}, not one of ${values.join(', ')}`);
    return found;
  };
}

export function listOf<Value>(check: Check<Value>): Check<readonly Value[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new ShapeError(`is ${describe(value)}, not a list`);
    return value.map((item: unknown, index) => inside(index, check, item));
  };
}

/** A field that may be absent. */
export interface Optional<Value> {
  readonly optional: Check<Value>;
}

export function optional<Value>(check: Check<Value>): Optional<Value> {
  return { optional: check };
}

type Fields = Readonly<Record<string, Check<unknown> | Optional<unknown>>>;
/**
 * The checks of all fields of `Value`, for `satisfies`. The compiler then reports a field that has no check. Such a
 * field would be lost in transit.
 */
export type FieldsOf<Value> = Readonly<Record<keyof Value, Check<unknown> | Optional<unknown>>>;
/** The checks of all fields of `Value`. Each check has the type of its field. */
export type ShapeOf<Value> = {
  readonly [K in keyof Value]-?: object extends Pick<Value, K>
    ? Optional<Exclude<Value[K], undefined>>
    : Check<Value[K]>;
};
type OptionalKey<F extends Fields> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F];
export type ObjectOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKey<F>>]: F[K] extends Check<infer Value> ? Value : never;
} & {
  readonly [K in OptionalKey<F>]?: F[K] extends Optional<infer Value> ? Value : never;
};

export function object<const F extends Fields>(fields: F): Check<ObjectOf<F>> {
  const entries = Object.entries(fields);
  return (value) => {
    if (!isPlainObject(value)) throw new ShapeError(`is ${describe(value)}, not an object`);
    const checked: Record<string, unknown> = {};
    for (const [key, field] of entries) {
      const item = Object.hasOwn(value, key) ? value[key] : undefined;
      if (typeof field === 'function') checked[key] = inside(key, field, item);
      else if (item !== undefined) checked[key] = inside(key, field.optional, item);
    }
    // Safe: every field of the shape was just checked by its own check.
    return checked as ObjectOf<F>;
  };
}

/** Like `object`, but rejects fields that are not in the shape, for input that people type. */
export function exactObject<const F extends Fields>(fields: F): Check<ObjectOf<F>> {
  const check = object(fields);
  return (value) => {
    const unknown = isPlainObject(value) ? Object.keys(value).find((key) => !Object.hasOwn(fields, key)) : undefined;
    if (unknown === undefined) return check(value);
    throw new ShapeError(`is unknown; known: ${Object.keys(fields).join(', ') || 'none'}`, cut(unknown, LONGEST_QUOTE));
  };
}

/**
 * Checks a value that has one of several shapes. Its field `key` names the shape, and `shapes` lists the other fields
 * of each shape. Each check is made on its first use, so that a process starts without checks that it never needs.
 */
export function oneByField<Key extends string, const Shapes extends Readonly<Record<string, () => Fields>>>(
  key: Key,
  shapes: Shapes,
): Check<{ [Kind in keyof Shapes]: { readonly [K in Key]: Kind } & ObjectOf<ReturnType<Shapes[Kind]>> }[keyof Shapes]> {
  const checks = new Map<unknown, Check<never>>();
  const checkFor = (kind: unknown) => {
    const fields = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind]?.() : undefined;
    if (fields === undefined) {
      throw new ShapeError(`is ${describe(kind)}, not one of ${Object.keys(shapes).join(', ')}`, key);
    }
    // Safe: the check has the fields of this shape.
    const check = object({ [key]: text, ...fields }) as Check<never>;
    checks.set(kind, check);
    return check;
  };
  return (value) => {
    if (!isPlainObject(value)) throw new ShapeError(`is ${describe(value)}, not an object`);
    const kind = value[key];
    return (checks.get(kind) ?? checkFor(kind))(value);
  };
}

const LONGEST_NAME = 4_096;
const DEEPEST = 256;
/** The maximum length of a path in an error message. */
const LONGEST_PATH = 200;
const LONGEST_QUOTE = 60;
const isoDate = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

function inside<Value>(key: string | number, check: Check<Value>, value: unknown): Value {
  try {
    return check(value);
  } catch (error) {
    throw error instanceof ShapeError ? error.under(key) : error;
  }
}

/** Checks a value. The current position is kept in `keys`, which is converted to text only for an error. */
function checkJson(value: unknown, keys: (string | number)[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (keys.length >= DEEPEST) throw errorAt(keys, `is nested deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      keys.push(index);
      checkJson(value[index], keys);
      keys.pop();
    }
    return;
  }
  if (!isPlainObject(value))
    throw errorAt(
      keys,
      typeof value === 'object' ? 'is not a plain object' : `is ${describe(value)}, which JSON cannot represent`,
    );
  for (const key of Object.keys(value)) {
    const item = value[key];
    // `undefined` is left out when the value is sent, as JSON.stringify does.
    if (item === undefined) continue;
    keys.push(key);
    checkJson(item, keys);
    keys.pop();
  }
}

function errorAt(keys: readonly (string | number)[], problem: string): ShapeError {
  return keys.reduceRight((error, key) => error.under(key), new ShapeError(problem));
}

/**
 * Describes a value for an error message. It reads no property of the value, because a frame may contain a property
 * such as `constructor`.
 */
function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `"${cut(value, LONGEST_QUOTE)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (value instanceof Date) return 'an invalid date';
  return Array.isArray(value) ? 'a list' : 'an object';
}

function cut(long: string, longest: number): string {
  return long.length > longest ? `${long.slice(0, longest)}…` : long;
}
