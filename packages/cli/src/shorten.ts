import { cutToWidth } from './fit-width.ts';

/** Converts a text to one line of at most `longest` columns. */
export function shorten(text: string, longest: number): string {
  // Processes only the part that may be shown, because a text may be huge.
  const start = text
    .slice(0, longest * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const isWhole = text.length <= longest * 2;
  return cutToWidth(isWhole ? start : `${start}…`, longest);
}
