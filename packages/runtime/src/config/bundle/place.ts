/** Places in the files of a bundle. */
import type { CodePlace, JsonValue } from '@goondan/types';

/** The keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

/** One document, with the places of its values. */
export interface SourceDocument {
  readonly value: JsonValue;
  /** True when a part of the document was rejected or could not be read; `value` has the other parts. */
  readonly isBroken: boolean;
  /** True when it is unknown what `value` lacks, so that checks of the value would report problems that do not exist. */
  readonly isUnreadable: boolean;
  /** The file that contains the document. */
  readonly file: string;
  /** True when all its values have the same place, because the document is a value of a program. */
  readonly hasOnePlace?: true;
  /** Returns the place of a value. If the value does not exist, returns the place of the nearest enclosing value. */
  placeOf(path: Path, part?: 'key' | 'value'): CodePlace;
}

/** Formats a path, such as `spec.tools[0].ref`. */
export function pathText(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
}

/** Returns the value to which a path leads; `undefined` when there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    // Safe: `key` is an own key of an object or a list.
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
