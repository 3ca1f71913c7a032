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

/** The minimum number of columns for words. If there are fewer, the terminal wraps the line. */
const LEAST_ROOM = 12;

/**
 * Breaks lines between words, so that they fit. The rows below a line keep its indentation and begin with `hang`. A word
 * that is wider than a row is broken, if `hard`. Without `columns`, the text stays as it is, because no person watches.
 */
export function wrapWords(text: string, columns: number | undefined, hang = '', hard = true): string {
  if (columns === undefined) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns, hang, hard))
    .join('\n');
}

/** Breaks lines between words. Commands and wide words, such as paths, stay whole, because people copy them. */
export function wrapMessage(text: string, columns: number | undefined): string {
  const joined = text.replaceAll(/`[^`\n]*`/g, (command) => command.replaceAll(' ', UNBROKEN));
  return wrapWords(joined, columns, '', false).replaceAll(UNBROKEN, ' ');
}

const UNBROKEN = '\u{a0}';

function wrapLine(line: string, columns: number, hang: string, hard: boolean): string {
  const [start = ''] = /^ */.exec(line) ?? [];
  const room = columns - start.length - hang.length;
  if (room < LEAST_ROOM || Bun.stringWidth(line) <= columns) return line;
  const rows = Bun.wrapAnsi(line.slice(start.length), room, { hard }).split('\n');
  return rows.map((row, index) => `${start}${index === 0 ? '' : hang}${row}`).join('\n');
}

export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
