/**
 * The limits for the YAML of a bundle. A file that exceeds a limit is rejected, with the place where it exceeds the
 * limit.
 */
export const yamlLimits = {
  /** Bytes of one file. */
  bytes: 1024 * 1024,
  /** Documents in one file. */
  documents: 100,
  /** Levels of nested lists and objects. */
  depth: 64,
  /** Aliases in one file. */
  aliases: 100,
  /** Values in one file; the value of an alias counts each time it is used. */
  values: 25_000,
  /** Lexemes of one file; this limits the time to read it. */
  lexemes: 200_000,
} as const;
