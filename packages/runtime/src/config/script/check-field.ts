/** The checks for the fields of a script. Each function takes an unchecked value and returns it with its type. */
import { GoondanError, type JsonObject } from '@goondan/types';
import { copyJsonObject, isPlainObject, NotJson, type PlainObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { showJson } from '../../json/show-json.ts';
import { closestName, suggestName } from '../closest-name.ts';

/** Makes the error of every check. `where`: the path of the field, such as `script[2].fail.times`. */
export function scriptError(where: string, problem: string, options: { suggestion?: string; cause?: unknown } = {}) {
  return new GoondanError('E_MODEL_SCRIPT', `Scripted model: ${where} ${problem}.`, options);
}

/** Checks that a value is an object that has only these keys. */
export function checkObject(value: unknown, where: string, knownKeys: readonly string[]): PlainObject {
  if (!isPlainObject(value)) throw expected('an object', value, where);
  for (const key of Object.keys(value)) {
    if (!knownKeys.includes(key)) throw unknownKeyError(where, key, knownKeys);
  }
  return value;
}

export function checkList(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw expected('a list', value, where);
  if (value.length === 0) throw scriptError(where, 'must not be empty');
  return value;
}

export const checkString = valueCheck('a string', (value): value is string => typeof value === 'string');
export const checkBoolean = valueCheck('true or false', (value): value is boolean => typeof value === 'boolean');
export const checkAmount = valueCheck(
  'a number of 0 or more',
  (value): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0,
);
export const checkCount = valueCheck(
  'a whole number of 0 or more',
  (value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
);

function valueCheck<Value>(what: string, fits: (value: unknown) => value is Value) {
  return (value: unknown, where: string): Value => {
    if (!fits(value)) throw expected(what, value, where);
    return value;
  };
}

export function checkName(value: unknown, where: string): string {
  const name = checkString(value, where);
  if (name === '') throw scriptError(where, 'must not be empty');
  return name;
}

/**
 * Checks that a value is a JSON object. Returns a copy, so that later changes of the value do not affect the script of
 * an open model.
 */
export function checkJsonObject(value: unknown, where: string): JsonObject {
  if (!isPlainObject(value)) throw expected('an object', value, where);
  try {
    return copyJsonObject(value);
  } catch (cause) {
    if (!(cause instanceof NotJson)) throw cause;
    throw scriptError(`${where}.${cause.path}`, `must be JSON; it is ${cause.problem}`, { cause });
  }
}

function expected(what: string, value: unknown, where: string): GoondanError {
  if (value === undefined) return scriptError(where, `is missing; it must be ${what}`);
  return scriptError(where, `must be ${what}, not ${showJson(value)}`);
}

function unknownKeyError(where: string, key: string, knownKeys: readonly string[]): GoondanError {
  const suggestion = suggestName(closestName(key, knownKeys), knownKeys);
  return scriptError(where, `has no field ${JSON.stringify(key)}`, defined({ suggestion }));
}
