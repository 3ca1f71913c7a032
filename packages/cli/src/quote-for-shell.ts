/** A word of a command line as a shell reads it back. */
export function quoteForShell(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
