/** Lists the changes between two JSON values. */
import { isPlainObject } from './copy-json.ts';
import { hideBytesAt } from './hide-bytes.ts';
import { previewJson } from './preview-json.ts';
import { isAsBefore } from './snapshot-json.ts';

export interface Change {
  readonly path: string;
  /** Absent for an added value. */
  readonly before?: string;
  /** Absent for a removed value. */
  readonly after?: string;
}

export interface Diff {
  readonly changes: Change[];
  /** True if there are more changes than those listed. */
  readonly isCut: boolean;
}

export const defaultDiffLimits = {
  /** The maximum number of listed changes; further ones are left out. */
  changes: 50,
  /** The maximum number of characters of one value; a longer value is cut. */
  characters: 2_000,
};

/** Converts a value to a text of at most `longest` characters. */
export type Shorten = (value: unknown, longest: number) => string;

const LONGEST_PATH = 300;
/** The maximum number of objects and arrays to compare. */
const MOST_COMPARED = 20_000;
const DEEPEST = 64;

/** Lists the changes. `shorten`: formats a value; by default, returns the beginning of its JSON. */
export function diffJson(
  before: unknown,
  after: unknown,
  limits = defaultDiffLimits,
  shorten: Shorten = cutJson,
): Diff {
  const walk: Walk = { limits, shorten, changes: [], isCut: false, left: MOST_COMPARED };
  compare(before, after, '', walk, 0);
  return { changes: walk.changes, isCut: walk.isCut };
}

/** Returns the beginning of the JSON, with a mark if it was cut. */
export function cutJson(value: unknown, longest: number): string {
  const { text, isCut } = previewJson(value, longest);
  return isCut ? markCut(text, value) : text;
}

/** Adds the mark of a cut to a text. If the value is a text, the mark contains its full length. */
export function markCut(text: string, value: unknown): string {
  const length = typeof value === 'string' ? ` (${value.length} characters)` : '';
  return `${text.toWellFormed()}…${length}`;
}

interface Walk {
  readonly limits: typeof defaultDiffLimits;
  readonly shorten: Shorten;
  readonly changes: Change[];
  isCut: boolean;
  left: number;
}

function compare(before: unknown, after: unknown, path: string, walk: Walk, depth: number): void {
  if (before === after || walk.isCut) return;
  if (walk.left-- <= 0) return void (walk.isCut = true);
  if (depth < DEEPEST && isPlainObject(before) && isPlainObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(own(before, key), own(after, key), path === '' ? key : `${path}.${key}`, walk, depth + 1);
    }
    return;
  }
  if (depth < DEEPEST && Array.isArray(before) && Array.isArray(after)) {
    return compareArrays(before, after, path, walk, depth);
  }
  report(before, after, path, walk);
}

/**
 * Compares two arrays after leaving out the equal items at both ends. So an item that was inserted at the beginning is
 * one change.
 */
function compareArrays(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  walk: Walk,
  depth: number,
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isAsBefore(before[start], after[start])) start++;
  let rest = 0;
  while (rest < shorter - start && isAsBefore(before[before.length - 1 - rest], after[after.length - 1 - rest])) rest++;
  const [removed, added] = [before.length - rest, after.length - rest];
  for (let index = start; index < Math.max(removed, added) && !walk.isCut; index++) {
    const [old, now] = [index < removed ? before[index] : undefined, index < added ? after[index] : undefined];
    compare(old, now, `${path}[${index}]`, walk, depth + 1);
  }
}

function report(before: unknown, after: unknown, path: string, walk: Walk): void {
  const { limits, changes, shorten } = walk;
  if (before instanceof Date && after instanceof Date && before.getTime() === after.getTime()) return;
  if (changes.length >= limits.changes) return void (walk.isCut = true);
  changes.push({
    path: path.length > LONGEST_PATH ? shorten(path, LONGEST_PATH) : path,
    ...(before === undefined ? {} : { before: shorten(hideBytesAt(path, before), limits.characters) }),
    ...(after === undefined ? {} : { after: shorten(hideBytesAt(path, after), limits.characters) }),
  });
}

/** Returns an own property of an object. A key such as `constructor` is then a name like any other. */
function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
