/** A position in a file of the bundle, such as `extensions/house-rules.ts:14:7`. */
export interface CodePlace {
  /** Relative to the bundle's folder; of a package, from its `node_modules` on. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** As terminals and editors read it: `extensions/house-rules.ts:14:7`. */
export function placeText({ file, line, column }: CodePlace): string {
  return `${file}:${line}:${column}`;
}
