import { cutToWidth } from './fit-width.ts';

/** Puts a text in one row, cut at `longest` columns. */
export function shorten(text: string, longest: number): string {
  // Only the part that may be shown is processed: a text may be huge.
  const start = text
    .slice(0, longest * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const isWhole = text.length <= longest * 2;
  return cutToWidth(isWhole ? start : `${start}…`, longest);
}
