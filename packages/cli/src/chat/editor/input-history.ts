/**
 * What was sent before, for the arrow keys: the newest `MOST`, and of long ones no more than `MOST_CHARACTERS` together.
 * What was being written comes back below the newest.
 */
const MOST = 500;
const MOST_CHARACTERS = 5_000_000;

export class InputHistory {
  #entries: string[] = [];
  /** Where the person is; `#entries.length` is the line they write. */
  #place = 0;
  #draft = '';

  /** Forgets where the person was. The same twice in a row is kept once. */
  add(text: string): void {
    if (text.trim() !== '' && this.#entries.at(-1) !== text) this.#entries.push(text);
    while (this.#entries.length > MOST || this.#size > MOST_CHARACTERS) this.#entries.shift();
    this.#place = this.#entries.length;
    this.#draft = '';
  }

  get #size(): number {
    return this.#entries.reduce((sum, { length }) => sum + length, 0);
  }

  /** What to show instead of `current`; `undefined` when there is nothing further. */
  go(by: -1 | 1, current: string): string | undefined {
    const next = this.#place + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#place === this.#entries.length) this.#draft = current;
    this.#place = next;
    return this.#entries[next] ?? this.#draft;
  }

  /** Another conversation has another history. */
  replace(entries: readonly string[]): void {
    this.#entries = [];
    for (const entry of entries.slice(-MOST)) this.add(entry);
  }
}
