/**
 * Lays out the prompt in rows, and computes the position of the cursor. If the text is long, only the part around the
 * cursor is processed.
 */
import { widthOf } from '../../graphemes.ts';
import { harmlessText } from '../../harmless-text.ts';
import { type Line, line, span } from '../screen/line.ts';
import { type Row, wrapLine } from '../screen/wrap-line.ts';
import type { EditedText } from './edit-text.ts';

const NARROW = 8;

/** `mostRows` is at least 1. `label` is the text before the input; omitted when there is no room. */
export function layOutPrompt(
  { text, cursor }: EditedText,
  { columns, mostRows, label }: { readonly columns: number; readonly mostRows: number; readonly label: string },
) {
  const shown = columns < NARROW + widthOf(label) ? '' : label;
  const lines = text.split('\n');
  const before = text.slice(0, cursor).split('\n');
  const at = before.length - 1;
  const first = Math.max(0, at - mostRows);
  const rows: Row[] = [];
  let cursorRow = 0;
  let cursorColumn = 0;
  for (const [index, each] of lines.slice(first, at + mostRows + 1).entries()) {
    const number = first + index;
    const start = number === 0 ? shown : ' '.repeat(widthOf(shown));
    if (number === at) {
      // Wraps the text before the cursor: the end of that text is the position of the cursor.
      const upTo = wrapLine(withLabel(start, before[at] ?? ''), columns);
      const isFull = (upTo.at(-1)?.width ?? 0) >= columns;
      cursorRow = rows.length + upTo.length - (isFull ? 0 : 1);
      cursorColumn = isFull ? 0 : (upTo.at(-1)?.width ?? 0);
    }
    rows.push(...wrapLine(withLabel(start, each), columns));
    // If the row is full, the cursor is at the start of a new row.
    if (number === at && cursorRow === rows.length) rows.push({ line: [], width: 0 });
  }
  const from = Math.max(0, Math.min(cursorRow - Math.floor(mostRows / 2), rows.length - mostRows));
  return { rows: rows.slice(from, from + mostRows), cursorRow: cursorRow - from, cursorColumn };
}

function withLabel(label: string, text: string): Line {
  return label === '' ? line(text) : [span(label, 'cyan'), span(harmlessText(text))];
}
