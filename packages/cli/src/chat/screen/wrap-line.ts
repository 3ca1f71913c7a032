/**
 * Wraps lines. Input and code wrap as a terminal would, by characters, so that nothing moves when the line is finished. Prose
 * wraps between words.
 */
import { graphemes, widthOf } from '../../graphemes.ts';
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
    for (const character of graphemes(shownText(text))) {
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

/** Breaks a line between words; a word that is wider than the terminal is broken at the edge. Returns at least one line. */
export function wrapProse(line: Line, columns: number): Line[] {
  const lines: Line[] = [];
  let row: ReturnType<typeof cellsOf> = [];
  let width = 0;
  for (const cell of cellsOf(line)) {
    row.push(cell);
    width += cell.width;
    if (width <= columns || cell.text === ' ' || row.length === 1) continue;
    const end = startOfLastWord(row) ?? row.length - 1;
    lines.push(toLine(row.slice(0, end)));
    row = row.slice(end);
    width = row.reduce((sum, each) => sum + each.width, 0);
  }
  return [...lines, toLine(row)];
}

export function widthOfLine(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(shownText(text)), 0);
}

function shownText(text: string): string {
  return harmlessText(text).replaceAll('\t', TAB);
}

function cellsOf(line: Line) {
  return line.flatMap(({ text, style }) => Array.from(graphemes(shownText(text)), (each) => ({ ...each, style })));
}

/** Returns `undefined` if there is no word before the last one. */
function startOfLastWord(row: ReturnType<typeof cellsOf>): number | undefined {
  const blank = row.findLastIndex(({ text }) => text === ' ');
  return row.slice(0, Math.max(0, blank)).some(({ text }) => text !== ' ') ? blank + 1 : undefined;
}

/** Joins the cells of one style, without the blanks at the end. */
function toLine(row: ReturnType<typeof cellsOf>): Line {
  const spans: Span[] = [];
  for (const { text, style } of row.slice(0, row.findLastIndex((cell) => cell.text !== ' ') + 1)) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === style) spans[spans.length - 1] = span(last.text + text, style);
    else spans.push(span(text, style));
  }
  return spans;
}
