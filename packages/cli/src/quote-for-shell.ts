/** Quotes a text, so that it can be typed as one word. */
export function quoteForShell(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
