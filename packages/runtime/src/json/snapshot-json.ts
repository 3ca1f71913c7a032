/**
 * Takes a snapshot of a value that its owner may change in place later, and detects whether the value has changed
 * since.
 *
 * 1. A frozen value is kept by reference, because the runtime always freezes deeply.
 * 2. A value that is not JSON (a date, an instance of a class) is kept by reference, too.
 * 3. The work is bounded: beyond `MOST_PARTS` objects and arrays, or `DEEPEST` levels, values are kept by reference. If
 *    such a value is changed in place, the change is not detected. If it is replaced by another object, the change is
 *    detected.
 *
 * Both functions run between the layers of a watched chain, so small, flat values must cost almost nothing.
 */
import { isPlainObject } from './copy-json.ts';

const MOST_PARTS = 10_000;
const DEEPEST = 64;
/** The maximum number of objects and arrays to compare; all others count as equal. */
const MOST_COMPARED = 100_000;

export function snapshotJson<Value>(value: Value): Value {
  // Safe: a copy has the shape of its original.
  return isPart(value) ? (copyPart(value, { left: MOST_PARTS }, 0) as Value) : value;
}

interface Budget {
  left: number;
}

type Part = Record<string, unknown> | readonly unknown[];

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value);
}

function copyPart(value: Part, budget: Budget, depth: number): unknown {
  if (depth >= DEEPEST || --budget.left <= 0) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown) => (isPart(item) ? copyPart(item, budget, depth + 1) : item));
  }
  if (!isPlainObject(value)) return value;
  const copy = { ...value };
  for (const key in copy) {
    const item = copy[key];
    if (isPart(item)) copy[key] = copyPart(item, budget, depth + 1);
  }
  return copy;
}

/** Returns true if `value` is unchanged since the snapshot, or equal to it. */
export function isAsBefore(snapshot: unknown, value: unknown): boolean {
  if (snapshot === value) return true;
  if (typeof snapshot !== 'object' || typeof value !== 'object' || snapshot === null || value === null) return false;
  return isEqual(snapshot, value, undefined, 0);
}

/**
 * Compares two parts. `given`: the remaining budget; undefined in the outermost call, which creates it if the parts
 * contain other parts.
 */
function isEqual(before: object, after: object, given: Budget | undefined, depth: number): boolean {
  let budget = given;
  if (depth >= DEEPEST || (budget !== undefined && --budget.left <= 0)) return true;
  if (Array.isArray(before)) return Array.isArray(after) && areEqual(before, after, budget, depth);
  // Only own properties are compared, because a snapshot has no others.
  const [was, is] = [before as Record<string, unknown>, after as Record<string, unknown>];
  let count = 0;
  for (const key in was) {
    count++;
    const old = was[key];
    const now = is[key];
    if (old === now) {
      if (old === undefined && !Object.hasOwn(is, key)) return false;
      continue;
    }
    if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return false;
    budget ??= { left: MOST_COMPARED };
    if (!isEqual(old, now, budget, depth + 1)) return false;
  }
  // Dates and similar objects have no properties to compare, so they count as different.
  if (count === 0 && !(isPlainObject(before) && isPlainObject(after))) return false;
  return count === Object.keys(after).length;
}

function areEqual(
  before: readonly unknown[],
  after: readonly unknown[],
  budget: Budget = { left: MOST_COMPARED },
  depth: number,
): boolean {
  if (before.length !== after.length) return false;
  for (let index = 0; index < before.length; index++) {
    const [old, now] = [before[index], after[index]];
    if (old === now) continue;
    if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return false;
    if (!isEqual(old, now, budget, depth + 1)) return false;
  }
  return true;
}
