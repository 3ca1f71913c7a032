/** The limits for the YAML of a bundle. A file over a limit is rejected at the place that exceeds it. */
export const yamlLimits = {
  /** In one file. */
  bytes: 1024 * 1024,
  /** In one file. */
  documents: 100,
  /** Nested lists and objects. */
  depth: 64,
  /** In one file. */
  aliases: 100,
  /** The most values in one file; the value of an alias counts each time it is used. */
  values: 25_000,
  /** Pieces into which the lexer cuts a file: limits the time to read any file. */
  lexemes: 200_000,
} as const;
