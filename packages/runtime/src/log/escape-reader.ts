/**
 * Reads a text without its escapes, so that a secret is found at every depth of JSON inside JSON, and with any of its
 * characters written as `\uXXXX`. The reader drops backslashes and decodes `\uXXXX`. It gives each character together
 * with its place in the text.
 */
const BACKSLASH = 92;
const LETTER_U = 117;
/**
 * The maximum length of a run of backslashes. A secret with `\\"` in it has 15 backslashes there after it was encoded as
 * JSON three times.
 */
const LONGEST_RUN = 16;
/** The maximum length of a character with its escapes: backslashes, `u` and four digits. */
export const LONGEST_ESCAPE = LONGEST_RUN + 5;

/** Receives a character, the index at which it begins in the text, and the index after it. */
export type CharacterListener = (code: number, start: number, end: number) => void;

export class EscapeReader {
  /** The index at which the current run of backslashes begins; undefined outside of a run. */
  #runStart: number | undefined;
  /** The index of the last backslash. */
  #escapeStart = 0;
  /** The characters after the backslash of an unfinished `\uXXXX`. */
  #unicode = '';

  constructor(private readonly onCharacter: CharacterListener) {}

  /** The index at which an unfinished escape begins; undefined when there is none. */
  get unfinished(): number | undefined {
    return this.#runStart === undefined ? undefined : this.#escapeStart;
  }

  take(code: number, at: number): void {
    if (this.#unicode !== '') {
      if (isHexDigit(code)) return this.#takeDigit(code, at);
      this.#giveUp();
    }
    if (code === BACKSLASH) {
      this.#escapeStart = at;
      return this.#takeBackslash(at + 1);
    }
    // A backslash that was written as `\u005c` does not begin another escape.
    if (this.#runStart !== undefined && code === LETTER_U && this.#escapeStart === at - 1) {
      this.#unicode = 'u';
      return;
    }
    this.#runStart = undefined;
    this.onCharacter(code, at, at + 1);
  }

  /** Ends the text. */
  end(): void {
    if (this.#unicode !== '') this.#giveUp();
    this.#runStart = undefined;
  }

  /** Corrects the indexes after the beginning of the text was cut off. */
  shift(by: number): void {
    this.#escapeStart -= by;
    if (this.#runStart !== undefined) this.#runStart -= by;
  }

  #takeDigit(code: number, at: number): void {
    this.#unicode += String.fromCharCode(code);
    if (this.#unicode.length < 5) return;
    const value = Number.parseInt(this.#unicode.slice(1), 16);
    this.#unicode = '';
    if (value === BACKSLASH) return this.#takeBackslash(at + 1);
    this.#runStart = undefined;
    this.onCharacter(value, this.#escapeStart, at + 1);
  }

  /** Drops a backslash, which was written as itself or as `\u005c`, unless the run becomes too long. */
  #takeBackslash(end: number): void {
    this.#runStart ??= this.#escapeStart;
    // No secret without escapes has a backslash, so the backslash ends every occurrence.
    if (end - this.#runStart > LONGEST_RUN) this.onCharacter(BACKSLASH, this.#escapeStart, end);
  }

  /** Gives the characters of an escape that is not complete. */
  #giveUp(): void {
    const characters = this.#unicode;
    this.#unicode = '';
    this.#runStart = undefined;
    for (let index = 0; index < characters.length; index++) {
      const start = this.#escapeStart + 1 + index;
      this.onCharacter(characters.charCodeAt(index), start, start + 1);
    }
  }
}

function isHexDigit(code: number): boolean {
  const lower = code | 32;
  return (code >= 48 && code <= 57) || (lower >= 97 && lower <= 102);
}

export interface UnescapedText {
  readonly text: string;
  /** For each character of `text`, the index at which it begins in the original text. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export function readUnescaped(text: string): UnescapedText {
  const codes = new Uint16Array(text.length);
  const [starts, ends] = [new Int32Array(text.length), new Int32Array(text.length)];
  let length = 0;
  const reader = new EscapeReader((code, start, end) => {
    codes[length] = code;
    starts[length] = start;
    ends[length] = end;
    length += 1;
  });
  for (let at = 0; at < text.length; at++) reader.take(text.charCodeAt(at), at);
  reader.end();
  // UTF-16 keeps halves of surrogate pairs.
  return { text: Buffer.from(codes.buffer, 0, length * 2).toString('utf16le'), starts, ends };
}
