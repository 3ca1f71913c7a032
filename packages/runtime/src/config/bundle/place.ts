/** Places in the files of a bundle. */
import type { CodePlace, JsonValue } from '@goondan/types';

/** The keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

/** One document, with the place of everything in it. */
export interface SourceDocument {
  readonly value: JsonValue;
  /** True when a part of the document could not be read; `value` is the rest. */
  readonly isBroken: boolean;
  /** The file that contains the document. */
  readonly file: string;
  /** Returns the place of a value; for one that does not exist, that of the nearest value around it. */
  placeOf(path: Path, part?: 'key' | 'value'): CodePlace;
}

/** Writes a path as `spec.tools[0].ref`. */
export function pathText(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
}
