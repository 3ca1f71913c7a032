import { isPlainObject } from './copy-json.ts';

/** Returns true if both values have the same JSON text, so fields must be in the same order, too. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  // Most values that are compared are texts, and differ at once.
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) if (!isSameJson(one[index], other[index])) return false;
    return true;
  }
  if (!isPlainObject(one) || !isPlainObject(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length) return false;
  for (let index = 0; index < names.length; index++) {
    // Safe: the index is inside the list.
    const name = names[index] as string;
    if (name !== others[index] || !isSameJson(one[name], other[name])) return false;
  }
  return true;
}
