/** Questions about JSON values. Parts of a value may be shared, so walks over a value pay for each step. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../../json/is-object.ts';
import type { Budget } from './budget.ts';

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function typeOf(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // The cast is safe: a JSON value has no other types.
  return typeof value as JsonType;
}

/** JMESPath takes null, false, '', [] and {} for false. */
export function isTrue(value: JsonValue, budget: Budget): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return keysOf(value, budget).length > 0;
  return value !== null && value !== false && value !== '';
}

export function keysOf(value: JsonObject, budget: Budget): readonly string[] {
  const keys = Object.keys(value);
  budget.spend(keys.length);
  return keys;
}

export function isEqual(left: JsonValue, right: JsonValue, budget: Budget): boolean {
  budget.spend();
  if (typeof left === 'string' && typeof right === 'string') {
    budget.spend(Math.min(left.length, right.length) >> 4);
    return left === right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index] ?? null, budget));
  }
  if (isObject(left) && isObject(right)) {
    const keys = keysOf(left, budget);
    if (keys.length !== keysOf(right, budget).length) return false;
    return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key] ?? null, right[key] ?? null, budget));
  }
  return left === right;
}

/** Writes the value as JSON; pays for every item and character before writing. */
export function writeJson(value: JsonValue, budget: Budget): string {
  payFor(value, budget);
  return JSON.stringify(value);
}

function payFor(value: JsonValue, budget: Budget): void {
  budget.spend(typeof value === 'string' ? value.length + 2 : 1);
  if (Array.isArray(value)) for (const item of value) payFor(item, budget);
  if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      budget.spend(key.length + 2);
      payFor(item, budget);
    }
  }
}
