/** Bytes as they come → whole lines. One that does not end within the bound is said to be too long, for the caller to let go. */
export class LineReader {
  readonly #longest: number;
  readonly #decoder = new TextDecoder();
  #begun = '';
  #isSkipping = false;

  /** In characters. */
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

  /** The line that has begun is longer than it may be. */
  get isTooLong(): boolean {
    return this.#begun.length > this.#longest;
  }

  /** Lets the line that has begun go, to its end. */
  skipLine(): void {
    this.#begun = '';
    this.#isSkipping = true;
  }

  /** The text after the last line break. */
  rest(): string {
    return this.#isSkipping ? '' : this.#begun;
  }
}
