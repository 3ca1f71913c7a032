/** In one row, and cut after `longest` characters. */
export function shorten(text: string, longest: number): string {
  // Only what may be shown is looked at: a text may be huge.
  const start = text
    .slice(0, longest * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (start.length <= longest && text.length <= longest * 2) return start;
  return `${start.slice(0, longest - 1)}…`;
}
