/** Quotes a text so that a shell reads it as one word. */
export function quoteForShell(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
