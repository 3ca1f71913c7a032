/**
 * The sent messages that the arrow keys bring back: the newest `MOST`, with at most `MOST_CHARACTERS` together. The
 * arrow down from the newest message brings back the unsent text.
 */
const MOST = 500;
const MOST_CHARACTERS = 5_000_000;

export class InputHistory {
  #entries: string[] = [];
  /** The index of the shown entry; `#entries.length` for the line being written. */
  #place = 0;
  #draft = '';

  /** Adds an entry, unless it is blank or equals the last entry, and returns to the line being written. */
  add(text: string): void {
    if (text.trim() !== '' && this.#entries.at(-1) !== text) this.#entries.push(text);
    while (this.#entries.length > MOST || this.#size > MOST_CHARACTERS) this.#entries.shift();
    this.#place = this.#entries.length;
    this.#draft = '';
  }

  get #size(): number {
    return this.#entries.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Moves to the entry before (-1) or after (1). Returns the text to show instead of `current`; `undefined` when there
   * is no such entry.
   */
  go(by: -1 | 1, current: string): string | undefined {
    const next = this.#place + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#place === this.#entries.length) this.#draft = current;
    this.#place = next;
    return this.#entries[next] ?? this.#draft;
  }

  /** Replaces all entries when another conversation is opened. */
  replace(entries: readonly string[]): void {
    this.#entries = [];
    for (const entry of entries.slice(-MOST)) this.add(entry);
  }
}
