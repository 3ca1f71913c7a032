/**
 * Masks a text that arrives in pieces; a secret may be spread over several pieces.
 *
 * 1. The returned pieces together are the whole text, masked.
 * 2. The end of the text is held back only while it may be the beginning of a secret. So fewer characters are held back
 *    than the longest form has.
 */
import { MASKED, type SecretMask, SHORTEST_SECRET } from './mask-secrets.ts';

export class MaskedStream {
  readonly #searches: readonly FormSearch[];
  readonly #firsts: ReadonlySet<number>;
  /** The held-back end of the text: the longest end that may be the beginning of a form. */
  #held = '';
  /**
   * The hidden parts of the held text, in order. If a part starts before the held text, its mask was already returned.
   */
  #runs: { start: number; end: number }[] = [];

  constructor({ forms }: SecretMask) {
    this.#searches = forms.map((form) => new FormSearch(form));
    this.#firsts = new Set(forms.map((form) => form.charCodeAt(0)));
  }

  /** Adds the next piece, and returns the text that can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece;
    let open = this.#held.length;
    for (let at = this.#held.length; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (open > 0 || this.#firsts.has(code)) open = this.#look(code, at + 1);
    }
    return this.#showUntil(text.length - open, text);
  }

  /** Ends the text, and returns the held-back part. The next piece begins another text. */
  end(): string {
    const rest = this.#held;
    const shown = this.#showUntil(rest.length, rest);
    this.#reset();
    return shown;
  }

  /**
   * Ends a text that was interrupted. If the held-back part has at least the minimum length of a secret, it is masked,
   * because it may be half a secret.
   */
  breakOff(): string {
    if (this.#held.length >= SHORTEST_SECRET) this.#hide(0, this.#held.length);
    return this.end();
  }

  /**
   * Reads one character; `end` is the index after it. Returns how many of the last characters may be the beginning of a
   * form.
   */
  #look(code: number, end: number): number {
    let longest = 0;
    let open = 0;
    for (const search of this.#searches) {
      if (search.take(code)) longest = Math.max(longest, search.form.length);
      open = Math.max(open, search.length);
    }
    if (longest > 0) this.#hide(end - longest, end);
    return open;
  }

  #hide(from: number, end: number): void {
    let start = from;
    for (let last = this.#runs.at(-1); last !== undefined && last.end > from; last = this.#runs.at(-1)) {
      start = Math.min(start, last.start);
      this.#runs.pop();
    }
    this.#runs.push({ start, end });
  }

  /** Returns the text up to `until` and holds back the rest. */
  #showUntil(until: number, text: string): string {
    let shown = '';
    let from = 0;
    for (const { start, end } of this.#runs) {
      if (start >= until) break;
      if (start >= 0) shown += text.slice(from, start) + MASKED;
      from = end;
    }
    if (from < until) shown += text.slice(from, until);
    this.#held = text.slice(until);
    this.#runs = this.#runs
      .filter(({ end }) => end > until)
      .map(({ start, end }) => ({ start: start - until, end: end - until }));
    return shown;
  }

  #reset(): void {
    this.#held = '';
    this.#runs = [];
    for (const search of this.#searches) search.length = 0;
  }
}

/** Searches for one form, character by character, without going back (Knuth–Morris–Pratt). */
class FormSearch {
  /** How many characters of the form the text currently ends with. */
  length = 0;
  /** For each prefix of the form: the length of its longest proper suffix that is also a prefix. */
  readonly #shorter: Uint32Array;

  constructor(readonly form: string) {
    this.#shorter = new Uint32Array(form.length + 1);
    for (let end = 1; end < form.length; end++) {
      this.take(form.charCodeAt(end));
      this.#shorter[end + 1] = this.length;
    }
    this.length = 0;
  }

  /** Adds a character. Returns true if the character completes the form. */
  take(code: number): boolean {
    while (this.length > 0 && this.form.charCodeAt(this.length) !== code) this.length = this.#shorter[this.length] ?? 0;
    if (this.form.charCodeAt(this.length) === code) this.length++;
    if (this.length < this.form.length) return false;
    this.length = this.#shorter[this.length] ?? 0;
    return true;
  }
}
