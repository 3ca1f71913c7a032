/**
 * Splits bytes into lines. If `isTooLong` is true, a line exceeds the limit, and the caller can skip it with
 * `skipLine`.
 */
export class LineReader {
  readonly #decoder = new TextDecoder();
  #begun = '';
  #isSkipping = false;

  /** `longest` is the maximum length of a line, in characters. */
  constructor(private readonly longest: number) {}

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

  /** True when the unfinished line exceeds the limit. */
  get isTooLong(): boolean {
    return this.#begun.length > this.longest;
  }

  /** Drops the unfinished line, including the part that has not arrived yet. */
  skipLine(): void {
    this.#begun = '';
    this.#isSkipping = true;
  }

  /** Returns the text after the last line break. */
  rest(): string {
    return this.#isSkipping ? '' : this.#begun;
  }
}
