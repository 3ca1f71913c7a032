/**
 * Makes the bytes of one frame: erases the live part, writes the finished lines in its place, and draws the live part
 * again below.
 *
 * 1. A finished line is written as one line. The terminal wraps it, so copying and resizing treat it as one line.
 * 2. A live row never wraps. So the next frame finds the start of the live part even if the width of a row was
 *    estimated wrongly.
 */
import type { Colors } from '../../colors.ts';
import type { Line } from './line.ts';
import { renderLine } from './render-line.ts';
import type { Row } from './wrap-line.ts';

export interface LivePart {
  readonly rows: readonly Row[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export const nothingLive: LivePart = { rows: [], cursorRow: 0, cursorColumn: 0 };

export interface Frame {
  /** The live part that is currently on the screen. */
  readonly shown: LivePart;
  readonly finished: readonly Line[];
  readonly live: LivePart;
  readonly columns: number;
}

export function paintFrame({ shown, finished, live, columns }: Frame, colors: Colors): string {
  const above = finished.map((line) => `${renderLine(line, colors)}\r\n`).join('');
  return `${BEGIN}${eraseLive(shown, columns)}${above}${drawLive(live, colors)}${END}`;
}

// Hides the cursor and uses synchronized output, where a terminal supports it, so that a partial frame is never
// visible.
const BEGIN = '\x1b[?2026h\x1b[?25l';
const END = '\x1b[?25h\x1b[?2026l';
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';

/** Erases the live part. If the terminal has become narrower, a row that was drawn before may now fill several rows. */
export function eraseLive({ rows, cursorRow, cursorColumn }: LivePart, columns: number): string {
  const above = rows.slice(0, cursorRow).reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0);
  return `\r${up(above + Math.floor(cursorColumn / columns))}\x1b[J`;
}

function drawLive({ rows, cursorRow, cursorColumn }: LivePart, colors: Colors): string {
  const drawn = rows.map(({ line }) => renderLine(line, colors)).join('\r\n');
  const right = cursorColumn > 0 ? `\x1b[${cursorColumn}C` : '';
  return `${NO_WRAP}${drawn}${WRAP}${up(rows.length - 1 - cursorRow)}\r${right}`;
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : '';
}
