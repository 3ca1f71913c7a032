/** How much YAML a bundle may have. What is more is refused, at the place where it becomes too much. */
export const yamlLimits = {
  /** Of one file. */
  bytes: 1024 * 1024,
  /** In one file. */
  documents: 100,
  /** Lists and objects inside each other. */
  depth: 64,
  /** In one file. */
  aliases: 100,
  /** In one file, what aliases stand for counted each time. */
  values: 25_000,
  /** Pieces that the lexer cuts a file into: bounds the time that reading takes, whatever is in it. */
  lexemes: 200_000,
} as const;
