/**
 * Searches for many forms at once, character by character, without going back (Aho–Corasick). The time that a character
 * takes does not depend on the number of forms.
 *
 * A state is a beginning of forms: the longest one with which the text ends. States are numbers; `START` is the empty
 * beginning.
 */
import { SHORTEST_SECRET } from './secret-forms.ts';

export const START = 0;

/** The number of entries in the table of shifts; a power of two. Pairs of ASCII characters have an entry each. */
const SHIFTS = 1 << 14;
/** The number of characters of each form that the table of shifts knows. */
const WINDOW = SHORTEST_SECRET;

export class FormSearch {
  /** The number of states. */
  size = 1;
  /** For each state: its last character, its first continuation, and another continuation of the state before it. */
  readonly #codes: Uint16Array;
  readonly #next: Uint32Array;
  readonly #other: Uint32Array;
  /** For each state: the longest proper end of it that is a state. */
  readonly #shorter: Uint32Array;
  readonly #lengths: Uint32Array;
  /** For each state: the length of the longest form with which it ends, or 0. */
  readonly #found: Uint32Array;
  /** The states of one character: those of ASCII characters by their code, and the others. */
  readonly #ascii = new Uint32Array(128);
  readonly #firsts = new Map<number, number>();
  readonly #shifts = new Uint8Array(SHIFTS).fill(WINDOW - 1);

  constructor(forms: readonly string[]) {
    const most = 1 + forms.reduce((sum, { length }) => sum + length, 0);
    this.#codes = new Uint16Array(most);
    [this.#next, this.#other, this.#shorter, this.#lengths, this.#found] = [
      new Uint32Array(most),
      new Uint32Array(most),
      new Uint32Array(most),
      new Uint32Array(most),
      new Uint32Array(most),
    ];
    for (const form of forms) this.#add(form);
    this.#link();
  }

  /** Returns the state after another character. */
  after(state: number, code: number): number {
    for (let from = state; from !== START; from = this.#shorter[from] ?? START) {
      const next = this.#continuation(from, code);
      if (next !== START) return next;
    }
    return this.first(code);
  }

  /** Returns the state after a character at the beginning; START if no form begins with it. */
  first(code: number): number {
    return this.#ascii[code] ?? this.#firsts.get(code) ?? START;
  }

  /** Returns the length of the longest form with which the text ends, or 0. */
  found(state: number): number {
    return this.#found[state] ?? 0;
  }

  /** Returns the number of characters at the end of the text that may be the beginning of a form. */
  length(state: number): number {
    return this.#lengths[state] ?? 0;
  }

  /** Returns the next shorter beginning with which the text ends. */
  shorter(state: number): number {
    return this.#shorter[state] ?? START;
  }

  /** Returns the state after a form was found: the longest beginning with which the text ends and that can go on. */
  continued(state: number): number {
    let last = state;
    while (last !== START && this.#next[last] === START) last = this.#shorter[last] ?? START;
    return last;
  }

  /**
   * Returns an index of a text before which no form begins: `from`, or a later one. Only the characters before `until`
   * are looked at.
   */
  skip(text: string, from: number, until: number): number {
    let at = from;
    while (at <= until - WINDOW) {
      const shift = this.#shifts[pairOf(text.charCodeAt(at + WINDOW - 2), text.charCodeAt(at + WINDOW - 1))] ?? 0;
      if (shift === 0) return at;
      at += shift;
    }
    while (at < until && this.first(text.charCodeAt(at)) === START) at += 1;
    return at;
  }

  /** Returns true if a text certainly has no form, also without its escapes. Makes nothing. */
  lacks(text: string): boolean {
    if (text.length < WINDOW) return true;
    const until = text.length - WINDOW;
    for (let at = 0; at <= until;) {
      const shift = this.#shifts[pairOf(text.charCodeAt(at + WINDOW - 2), text.charCodeAt(at + WINDOW - 1))] ?? 0;
      if (shift === 0) return false;
      at += shift;
    }
    return !text.includes('\\');
  }

  #add(form: string): void {
    let state = START;
    for (let at = 0; at < form.length; at++) {
      const code = form.charCodeAt(at);
      const known = state === START ? this.first(code) : this.#continuation(state, code);
      state = known === START ? this.#newState(state, code, at + 1) : known;
    }
    this.#found[state] = form.length;
    for (let end = 1; end < WINDOW; end++) {
      const pair = pairOf(form.charCodeAt(end - 1), form.charCodeAt(end));
      this.#shifts[pair] = Math.min(this.#shifts[pair] ?? 0, WINDOW - 1 - end);
    }
  }

  #newState(before: number, code: number, length: number): number {
    const state = this.size++;
    this.#codes[state] = code;
    this.#lengths[state] = length;
    if (before === START) {
      this.#firsts.set(code, state);
      if (code < this.#ascii.length) this.#ascii[code] = state;
    } else {
      this.#other[state] = this.#next[before] ?? START;
      this.#next[before] = state;
    }
    return state;
  }

  #continuation(state: number, code: number): number {
    let next = this.#next[state] ?? START;
    while (next !== START && this.#codes[next] !== code) next = this.#other[next] ?? START;
    return next;
  }

  /** Sets the shorter beginnings of all states, those of short states first. */
  #link(): void {
    const line = new Uint32Array(this.size);
    let [taken, added] = [0, 0];
    for (const first of this.#firsts.values()) line[added++] = first;
    while (taken < added) {
      const state = line[taken++] ?? START;
      for (let next = this.#next[state] ?? START; next !== START; next = this.#other[next] ?? START) {
        line[added++] = next;
        const shorter = this.after(this.#shorter[state] ?? START, this.#codes[next] ?? 0);
        this.#shorter[next] = shorter;
        this.#found[next] ||= this.#found[shorter] ?? 0;
      }
    }
  }
}

function pairOf(first: number, second: number): number {
  return ((first << 7) ^ second) & (SHIFTS - 1);
}
