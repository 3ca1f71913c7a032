/** Pure functions that edit a text: each takes the text and its cursor, and returns the next text and cursor. */
import { boundaries, graphemes, widthOf } from '../../graphemes.ts';
import type { EditingKey } from './key.ts';

export interface EditedText {
  readonly text: string;
  /** The offset at which the next character is inserted; never inside a visible character. */
  readonly cursor: number;
  /** The text that was last cut, for Ctrl-Y. */
  readonly killed: string;
}

export const noText: EditedText = { text: '', cursor: 0, killed: '' };

/** The maximum length of a text, in characters. */
export const LONGEST_TEXT = 1_000_000;

/** Returns `undefined` when the text would become too long. Control characters are left out. */
export function insert(edited: EditedText, typed: string): EditedText | undefined {
  const { text, cursor } = edited;
  const added = cleanUp(typed);
  if (text.length + added.length > LONGEST_TEXT) return undefined;
  return { ...edited, text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

/** Normalises typed text: line ends become line feeds, and control characters are removed. */
function cleanUp(typed: string): string {
  return typed.replaceAll(/\r\n?/g, '\n').toWellFormed().replaceAll(controls, '');
}

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Applies a key. The input line (`prompt.ts`) handles `enter` itself, and `up` and `down` when they would leave the
 * text.
 */
export function edit(edited: EditedText, key: EditingKey): EditedText {
  const { text, cursor, killed } = edited;
  switch (key) {
    case 'left':
      return { ...edited, cursor: before(text, cursor) };
    case 'right':
      return { ...edited, cursor: after(text, cursor) };
    case 'up':
    case 'down':
      return { ...edited, cursor: otherLine(text, cursor, key === 'up' ? -1 : 1) ?? cursor };
    case 'home':
      return { ...edited, cursor: lineStart(text, cursor) };
    case 'end':
      return { ...edited, cursor: lineEnd(text, cursor) };
    case 'word-left':
      return { ...edited, cursor: wordStart(text, cursor) };
    case 'word-right':
      return { ...edited, cursor: wordEnd(text, cursor) };
    case 'backspace':
      return remove(edited, before(text, cursor), cursor, killed);
    case 'delete':
      return remove(edited, cursor, after(text, cursor), killed);
    case 'delete-word':
      return remove(edited, wordStart(text, cursor), cursor);
    case 'delete-next-word':
      return remove(edited, cursor, wordEnd(text, cursor));
    case 'delete-to-start': {
      const start = lineStart(text, cursor);
      // At the start of a line, removes the line break before it.
      return remove(edited, start === cursor ? Math.max(start - 1, 0) : start, cursor);
    }
    case 'delete-to-end': {
      const end = lineEnd(text, cursor);
      // At the end of a line, removes the line break.
      return remove(edited, cursor, end === cursor ? Math.min(cursor + 1, text.length) : end);
    }
    case 'yank':
      return insert(edited, killed) ?? edited;
    case 'new-line':
    case 'enter':
      return insert(edited, '\n') ?? edited;
  }
}

/** Tells whether `key` (up or down) would leave the text. */
export function leavesText({ text, cursor }: EditedText, key: 'up' | 'down'): boolean {
  return otherLine(text, cursor, key === 'up' ? -1 : 1) === undefined;
}

function remove(edited: EditedText, from: number, to: number, killed?: string): EditedText {
  if (from === to) return edited;
  const { text } = edited;
  return { text: text.slice(0, from) + text.slice(to), cursor: from, killed: killed ?? text.slice(from, to) };
}

function lineStart(text: string, cursor: number): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

/** Returns the position one character to the left, also across a line break. */
function before(text: string, cursor: number): number {
  const start = lineStart(text, cursor);
  if (cursor === start) return Math.max(0, cursor - 1);
  const places = boundaries(text.slice(start, cursor));
  return start + (places.at(-2) ?? 0);
}

function after(text: string, cursor: number): number {
  const end = lineEnd(text, cursor);
  if (cursor === end) return Math.min(text.length, cursor + 1);
  return cursor + (boundaries(text.slice(cursor, end))[1] ?? 0);
}

/** Returns the start of the word before the cursor. White space and punctuation separate words. */
function wordStart(text: string, cursor: number): number {
  let place = cursor;
  while (place > 0 && !isInWord(text, place - 1)) place -= 1;
  while (place > 0 && isInWord(text, place - 1)) place -= 1;
  return snap(text, place);
}

function wordEnd(text: string, cursor: number): number {
  let place = cursor;
  while (place < text.length && !isInWord(text, place)) place += 1;
  while (place < text.length && isInWord(text, place)) place += 1;
  return snap(text, place);
}

/** Every character that is not ASCII is part of a word: letters of all scripts, and emoji. */
function isInWord(text: string, index: number): boolean {
  return text.charCodeAt(index) > 0x7f || /\w/.test(text.charAt(index));
}

/**
 * Returns the start of the visible character at `place`. A search for words can stop inside a character, because some
 * emoji begin with an ASCII character.
 */
function snap(text: string, place: number): number {
  const start = lineStart(text, place);
  const line = text.slice(start, lineEnd(text, place));
  return start + (boundaries(line).findLast((each) => start + each <= place) ?? 0);
}

/** Returns the same column in the line above or below; `undefined` when there is no such line. */
function otherLine(text: string, cursor: number, by: -1 | 1): number | undefined {
  const start = lineStart(text, cursor);
  const end = lineEnd(text, cursor);
  if (by === -1 ? start === 0 : end === text.length) return undefined;
  const column = widthOf(text.slice(start, cursor));
  const otherStart = by === -1 ? lineStart(text, start - 1) : end + 1;
  return otherStart + placeOfColumn(text.slice(otherStart, lineEnd(text, otherStart)), column);
}

function placeOfColumn(line: string, column: number): number {
  let place = 0;
  let reached = 0;
  for (const { text, width } of graphemes(line)) {
    if (reached + width > column) break;
    place += text.length;
    reached += width;
  }
  return place;
}
