/**
 * Fits texts into the columns of a terminal, where a character takes zero, one or two columns. The texts must already
 * be escaped.
 */
import { graphemes, widthOf } from './graphemes.ts';

/** The width of a line when the output is not a terminal. */
export const PIPED = 160;

/** Keeps as many whole characters as fit, and marks the cut with an ellipsis. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const character of graphemes(text)) {
    width += character.width;
    if (width > columns) break;
    kept += character.text;
  }
  return `${kept}…`;
}

export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
