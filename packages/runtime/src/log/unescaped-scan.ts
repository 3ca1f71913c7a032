/**
 * Finds the secrets in a text without its escapes: from a backslash on, until the text with escapes gives the same
 * result again.
 */
import { EscapeReader } from './escape-reader.ts';
import { type FormSearch, START } from './form-search.ts';

/** The maximum number of characters of an occurrence with its escapes. */
export const LONGEST_ESCAPED = 65_536;

export class UnescapedScan {
  readonly #reader = new EscapeReader((code, start, end) => this.#takeCharacter(code, start, end));
  /** The indexes at which the last characters begin. Those before `#first` are not needed any more. */
  #starts: number[] = [];
  #first = 0;
  #state = START;

  constructor(
    private readonly search: FormSearch,
    private readonly hide: (start: number, end: number) => void,
  ) {}

  /** Starts at an index, in the state of the text before it. */
  start(state: number, at: number): void {
    this.#state = state;
    this.#first = 0;
    this.#starts = [];
    for (let start = at - this.search.length(state); start < at; start++) this.#starts.push(start);
  }

  take(code: number, at: number): void {
    this.#reader.take(code, at);
  }

  end(): void {
    this.#reader.end();
  }

  /** Returns the index at which an occurrence may begin; `at` when there is none. */
  open(at: number): number {
    return Math.min(this.#starts[this.#first] ?? at, this.#reader.unfinished ?? at);
  }

  /** Returns true if the text with escapes is in the same state, so that both go on in the same way. */
  isSame(state: number, at: number): boolean {
    return state === this.#state && this.open(at) === at - this.search.length(state);
  }

  #takeCharacter(code: number, start: number, end: number): void {
    const { search } = this;
    this.#starts.push(start);
    this.#state = search.after(this.#state, code);
    while (end - this.#startOf(search.length(this.#state), end) > LONGEST_ESCAPED)
      this.#state = search.shorter(this.#state);
    const found = search.found(this.#state);
    if (found > 0) {
      this.hide(this.#startOf(found, end), end);
      this.#state = search.continued(this.#state);
    }
    this.#first = this.#starts.length - search.length(this.#state);
    this.#forget();
  }

  /** Returns the index at which the last characters of this number begin. */
  #startOf(length: number, end: number): number {
    return this.#starts[this.#starts.length - length] ?? end;
  }

  #forget(): void {
    if (this.#first < 1_024 || this.#first < this.#starts.length / 2) return;
    this.#starts.splice(0, this.#first);
    this.#first = 0;
  }
}
