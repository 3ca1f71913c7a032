/**
 * Reads a text without its escapes, so that a secret is found at every depth of JSON inside JSON, and with any of its
 * characters written as `\uXXXX`. The reader drops backslashes and decodes `\uXXXX`. It gives each character together
 * with its place in the text.
 */
export const BACKSLASH = 92;
export const LETTER_U = 117;
/**
 * The maximum length of a run of backslashes. A secret with `\\"` in it has 15 backslashes there after it was encoded as
 * JSON three times.
 */
const LONGEST_RUN = 16;

/** Given in place of a backslash that makes a run too long: no secret has it, so it ends every occurrence. */
const NO_CHARACTER = -1;

/** Receives a character, the index at which it begins in the text, and the index after it. */
export type CharacterListener = (code: number, start: number, end: number) => void;

export class EscapeReader {
  /** The index at which the current run of backslashes begins; undefined outside of a run. */
  #runStart: number | undefined;
  /** The index of the last backslash. */
  #escapeStart = 0;
  /** The characters after the backslash of an unfinished `\uXXXX`, and their number. */
  readonly #codes = new Uint16Array(5);
  #count = 0;

  constructor(private readonly onCharacter: CharacterListener) {}

  /** The index at which an unfinished escape begins; undefined when there is none. */
  get unfinished(): number | undefined {
    return this.#runStart === undefined ? undefined : this.#escapeStart;
  }

  take(code: number, at: number): void {
    if (this.#count > 0) {
      if (hexDigit(code) >= 0) return this.#takeDigit(code, at);
      this.#giveUp();
    }
    if (code === BACKSLASH) {
      this.#escapeStart = at;
      return this.#takeBackslash(at + 1);
    }
    // A backslash that was written as `\u005c` does not begin another escape.
    if (this.#runStart !== undefined && code === LETTER_U && this.#escapeStart === at - 1) {
      this.#codes[0] = code;
      this.#count = 1;
      return;
    }
    this.#runStart = undefined;
    this.onCharacter(code, at, at + 1);
  }

  /** Ends the text. */
  end(): void {
    this.#giveUp();
    this.#runStart = undefined;
  }

  #takeDigit(code: number, at: number): void {
    this.#codes[this.#count++] = code;
    if (this.#count < this.#codes.length) return;
    this.#count = 0;
    const value = this.#codes.subarray(1).reduce((sum, digit) => sum * 16 + hexDigit(digit), 0);
    if (value === BACKSLASH) return this.#takeBackslash(at + 1);
    this.#runStart = undefined;
    this.onCharacter(value, this.#escapeStart, at + 1);
  }

  /** Drops a backslash, which was written as itself or as `\u005c`, unless the run becomes too long. */
  #takeBackslash(end: number): void {
    this.#runStart ??= this.#escapeStart;
    if (end - this.#runStart > LONGEST_RUN) this.onCharacter(NO_CHARACTER, this.#escapeStart, end);
  }

  /** Gives the characters of an escape that is not complete. */
  #giveUp(): void {
    const count = this.#count;
    if (count === 0) return;
    this.#count = 0;
    this.#runStart = undefined;
    for (let index = 0; index < count; index++) {
      const start = this.#escapeStart + 1 + index;
      this.onCharacter(this.#codes[index] ?? 0, start, start + 1);
    }
  }
}

/** Returns the character that a complete `\uXXXX` at an index of a text stands for; -1 if there is none. */
export function unicodeAt(text: string, at: number): number {
  let value = 0;
  for (let index = at + 2; index < at + 6; index++) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** Returns the value of a hexadecimal digit; -1 for any other character. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Returns a text without its escapes. */
export function dropEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  let dropped = '';
  const reader = new EscapeReader((code) => (dropped += String.fromCharCode(code)));
  for (let at = 0; at < text.length; at++) reader.take(text.charCodeAt(at), at);
  reader.end();
  return dropped;
}
