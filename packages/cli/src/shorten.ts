import { cutToWidth } from './fit-width.ts';

/** In one row, and cut where it is wider than `longest` columns. */
export function shorten(text: string, longest: number): string {
  // Only what may be shown is looked at: a text may be huge.
  const start = text
    .slice(0, longest * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const isWhole = text.length <= longest * 2;
  return cutToWidth(isWhole ? start : `${start}…`, longest);
}
