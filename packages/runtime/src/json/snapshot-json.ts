/**
 * A value as it is now, when whoever owns it may change it in place afterwards; and whether it still is so.
 *
 * 1. What is frozen is kept as it is: the runtime freezes all the way down.
 * 2. What is no JSON (a date, an instance of a class) is kept as it is, too.
 * 3. It ends: past `MOST_PARTS` objects and arrays, or `DEEPEST` levels, what is inside is kept as it is. A change in
 *    place there is not seen; another object in its place is.
 *
 * Both run between the layers of a chain that is watched: what is small and flat costs next to nothing.
 */
import { isPlainObject } from './copy-json.ts';

const MOST_PARTS = 10_000;
const DEEPEST = 64;
/** Objects and arrays that are compared before the rest is taken to be the same. */
const MOST_COMPARED = 100_000;

export function snapshotJson<Value>(value: Value): Value {
  // A copy has the shape of what it is a copy of.
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

/** Whether `value` is what `snapshot` was taken of, or equal to it. */
export function isAsBefore(snapshot: unknown, value: unknown): boolean {
  if (snapshot === value) return true;
  if (typeof snapshot !== 'object' || typeof value !== 'object' || snapshot === null || value === null) return false;
  return isEqual(snapshot, value, undefined, 0);
}

/** `given`: absent of the outermost, which makes one when there is something inside it. */
function isEqual(before: object, after: object, given: Budget | undefined, depth: number): boolean {
  let budget = given;
  if (depth >= DEEPEST || (budget !== undefined && --budget.left <= 0)) return true;
  if (Array.isArray(before)) return Array.isArray(after) && areEqual(before, after, budget, depth);
  // Only its own: a snapshot has no others.
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
  // Dates and the like have nothing to compare, and are other ones.
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
