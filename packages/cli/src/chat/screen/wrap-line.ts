/** Wraps a line as a terminal would: by characters, not by words, so that nothing moves when the line is finished. */
import { graphemes } from '../../graphemes.ts';
import { harmlessText } from '../../harmless-text.ts';
import { type Line, type Span, span } from './line.ts';

export interface Row {
  readonly line: Line;
  /** The width in columns. */
  readonly width: number;
}

const TAB = '    ';

/** Returns at least one row. A character wider than the terminal gets a row of its own. */
export function wrapLine(line: Line, columns: number): Row[] {
  const rows: Row[] = [];
  let spans: Span[] = [];
  let width = 0;
  for (const { text, style } of line) {
    let piece = '';
    for (const character of graphemes(harmlessText(text).replaceAll('\t', TAB))) {
      if (width > 0 && width + character.width > columns) {
        rows.push({ line: [...spans, span(piece, style)], width });
        [spans, piece, width] = [[], '', 0];
      }
      piece += character.text;
      width += character.width;
    }
    spans.push(span(piece, style));
  }
  return [...rows, { line: spans, width }];
}
