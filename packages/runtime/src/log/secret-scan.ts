/**
 * Finds the secrets in a text that arrives in pieces. Indexes count from the beginning of the text.
 *
 * The text is read twice: as it is, and without its escapes. As long as the last characters have no escapes, both
 * readings are the same, and only one is done.
 *
 * 1. Work and memory for a character do not depend on the number of forms.
 * 2. `open` is at most the length of the longest form or LONGEST_ESCAPED, whichever is more.
 */
import { BACKSLASH, LETTER_U, unicodeAt } from './escape-reader.ts';
import { type FormSearch, START } from './form-search.ts';
import { SHORTEST_SECRET } from './secret-forms.ts';
import { UnescapedScan } from './unescaped-scan.ts';

/** A part of a text that is hidden as a whole: one occurrence, or several that overlap. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

export class SecretScan {
  /** The parts to hide, in order. */
  runs: Run[] = [];
  /** The number of characters that were read. */
  #at = 0;
  #state = START;
  /** True while the reading without escapes differs. */
  #isEscaped = false;
  #unescaped: UnescapedScan | undefined;

  constructor(private readonly search: FormSearch) {}

  /** The number of characters at the end of the text that may be the beginning of a secret. */
  get open(): number {
    const length = this.search.length(this.#state);
    if (!this.#isEscaped || this.#unescaped === undefined) return length;
    return Math.max(length, this.#at - this.#unescaped.open(this.#at));
  }

  read(piece: string): void {
    const before = this.#at;
    let backslash = -1;
    let index = 0;
    while (index < piece.length) {
      if (this.#state === START && !this.#isEscaped) {
        if (backslash < index) backslash = indexOrEnd('\\', piece, index);
        const next = backslash === index ? this.#skipEscape(piece, index) : this.search.skip(piece, index, backslash);
        if (next > index) {
          index = next;
          continue;
        }
      }
      this.#at = before + index;
      this.#take(piece.charCodeAt(index));
      index += 1;
    }
    this.#at = before + piece.length;
  }

  /** Ends the text. */
  end(): void {
    if (this.#isEscaped) this.#unescaped?.end();
  }

  /** Hides a part of the text, joined with those that it overlaps. */
  hide(from: number, until: number): void {
    let [start, end] = [from, until];
    // A part without escapes may be known before an earlier part with escapes.
    const later: Run[] = [];
    for (let last = this.runs.at(-1); last !== undefined && last.end > from; last = this.runs.at(-1)) {
      this.runs.pop();
      if (last.start >= until) later.unshift(last);
      else [start, end] = [Math.min(start, last.start), Math.max(end, last.end)];
    }
    this.runs.push({ start, end }, ...later);
  }

  /** Returns the index after an escape, if no form begins with it or inside it; else the index of the escape. */
  #skipEscape(text: string, at: number): number {
    const { search } = this;
    if (search.first(BACKSLASH) !== START || at + 1 === text.length) return at;
    if (text.charCodeAt(at + 1) !== LETTER_U) return at + 1;
    const code = unicodeAt(text, at);
    if (code === -1 || code === BACKSLASH || search.first(code) !== START) return at;
    const end = at + 6;
    return search.skip(text, at + 1, Math.min(text.length, end + SHORTEST_SECRET)) < end ? at : end;
  }

  #take(code: number): void {
    const { search } = this;
    const at = this.#at++;
    if (code === BACKSLASH && !this.#isEscaped) {
      this.#isEscaped = true;
      this.#unescaped ??= new UnescapedScan(search, (start, end) => this.hide(start, end));
      this.#unescaped.start(this.#state, at);
    }
    this.#state = search.after(this.#state, code);
    const found = search.found(this.#state);
    if (found > 0) {
      this.hide(this.#at - found, this.#at);
      this.#state = search.continued(this.#state);
    }
    if (!this.#isEscaped || this.#unescaped === undefined) return;
    this.#unescaped.take(code, at);
    this.#isEscaped = !this.#unescaped.isSame(this.#state, this.#at);
  }
}

function indexOrEnd(part: string, text: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index;
}
