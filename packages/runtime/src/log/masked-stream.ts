/**
 * Masks a text that arrives in pieces; a secret may be spread over several pieces.
 *
 * 1. The returned pieces together are the whole text, masked.
 * 2. The end of the text is held back only while it may be the beginning of a secret, see `SecretScan.open`.
 */
import type { FormSearch } from './form-search.ts';
import { SHORTEST_SECRET } from './secret-forms.ts';
import { SecretScan } from './secret-scan.ts';

/** The text in place of a secret. */
export const MASKED = '***';

export class MaskedStream {
  #scan: SecretScan;
  readonly #search: FormSearch;
  /** The held-back end of the text, and the index at which it begins. */
  #held = '';
  #from = 0;

  constructor({ search }: { readonly search: () => FormSearch }) {
    this.#search = search();
    this.#scan = new SecretScan(this.#search);
  }

  /** Adds the next piece, and returns the text that can be shown now. */
  push(piece: string): string {
    this.#scan.read(piece);
    this.#held += piece;
    return this.#show(this.#held.length - this.#scan.open);
  }

  /** Ends the text, and returns the held-back part. The next piece begins another text. */
  end(): string {
    this.#scan.end();
    const shown = this.#show(this.#held.length);
    this.#scan = new SecretScan(this.#search);
    this.#from = 0;
    return shown;
  }

  /**
   * Ends a text that was interrupted. If the held-back part has at least the minimum length of a secret, it is masked,
   * because it may be half a secret.
   */
  breakOff(): string {
    if (this.#held.length >= SHORTEST_SECRET) this.#scan.hide(this.#from, this.#from + this.#held.length);
    return this.end();
  }

  /** Returns the first characters of the held text, masked. */
  #show(count: number): string {
    const until = this.#from + count;
    const text = this.#held;
    this.#held = text.slice(count);
    if (this.#scan.runs.length === 0) {
      this.#from = until;
      return text.slice(0, count);
    }
    let shown = '';
    let from = this.#from;
    for (const { start, end } of this.#scan.runs) {
      if (start >= until) break;
      // The mask of a part that begins earlier was already returned.
      if (start >= this.#from) shown += text.slice(from - this.#from, start - this.#from) + MASKED;
      from = end;
    }
    if (from < until) shown += text.slice(from - this.#from, count);
    this.#from = until;
    this.#scan.runs = this.#scan.runs.filter(({ end }) => end > until);
    return shown;
  }
}
