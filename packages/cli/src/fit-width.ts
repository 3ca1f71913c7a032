/**
 * Fits texts into the columns of a terminal, where a character takes none, one or two. The texts are already harmless.
 */
import { graphemes, widthOf } from './graphemes.ts';

/** Keeps as many whole characters as fit, and marks the cut. */
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
