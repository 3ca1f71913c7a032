import { isPlainObject } from './copy-json.ts';

/** Returns true if both values have the same JSON text, so fields must be in the same order, too. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item, index) => isSameJson(item, other[index]))
    );
  }
  if (!isPlainObject(one) || !isPlainObject(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  return (
    names.length === others.length &&
    names.every((name, index) => name === others[index] && isSameJson(one[name], other[name]))
  );
}
