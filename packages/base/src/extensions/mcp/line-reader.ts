/** Splits bytes into lines. `isTooLong` reports a line over the limit, which the caller then skips. */
export class LineReader {
  readonly #longest: number;
  readonly #decoder = new TextDecoder();
  #begun = '';
  #isSkipping = false;

  /** `longest` is the limit of a line, in characters. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  push(chunk: Uint8Array): string[] {
    const [first = '', ...rest] = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const lines: string[] = [];
    this.#begun += first;
    for (const text of rest) {
      if (!this.#isSkipping) lines.push(this.#begun.replace(/\r$/, ''));
      this.#isSkipping = false;
      this.#begun = text;
    }
    if (this.#isSkipping) this.#begun = '';
    return lines;
  }

  /** True when the unfinished line is over the limit. */
  get isTooLong(): boolean {
    return this.#begun.length > this.#longest;
  }

  /** Skips the unfinished line to its end. */
  skipLine(): void {
    this.#begun = '';
    this.#isSkipping = true;
  }

  /** The text after the last line break. */
  rest(): string {
    return this.#isSkipping ? '' : this.#begun;
  }
}
