/** Where something stands in the files of a bundle. */
import type { JsonValue } from '@goondan/types';

export interface Place {
  /** From the folder of the bundle. */
  readonly file: string;
  /** Counts from 1, as `column` does. */
  readonly line: number;
  readonly column: number;
}

/** The keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

/** One document, and where everything in it stands. */
export interface SourceDocument {
  readonly value: JsonValue;
  /** Something of it could not be read; `value` is what could. */
  readonly isBroken: boolean;
  /** The file it stands in. */
  readonly file: string;
  /** Of what is not there, the place of the nearest thing around it. */
  placeOf(path: Path, part?: 'key' | 'value'): Place;
}

/** `spec.tools[0].ref`. */
export function pathText(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
}
