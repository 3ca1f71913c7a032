/** A position in a file of the bundle, such as `extensions/house-rules.ts:14:7`. */
export interface CodePlace {
  /** The path relative to the bundle's folder. For a package, the path begins with `node_modules`. */
  readonly file: string;
  /** The line, counted from 1. */
  readonly line: number;
  /** The column, counted from 1. */
  readonly column: number;
}

/** Formats a place for terminals and editors: `extensions/house-rules.ts:14:7`. */
export function placeText({ file, line, column }: CodePlace): string {
  return `${file}:${line}:${column}`;
}
