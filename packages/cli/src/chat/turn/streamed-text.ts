/**
 * An answer that is being streamed. Complete lines are finished; only the last line still changes. A line longer than
 * `LONGEST_LINE` is finished in pieces, so that the changing part stays small.
 */
const LONGEST_LINE = 4_000;

export class StreamedText {
  /** The whole text so far. */
  #text = '';
  #finished = 0;

  get text(): string {
    return this.#text;
  }

  /** The last, unfinished line. */
  get rest(): string {
    return this.#text.slice(this.#finished);
  }

  get hasFinished(): boolean {
    return this.#finished > 0;
  }

  /** Adds a piece of text and returns the lines that it completes. */
  add(piece: string): string[] {
    this.#text += piece;
    const lines: string[] = [];
    for (;;) {
      const end = this.#nextEnd();
      if (end === undefined) return lines;
      lines.push(withoutBreak(this.#text.slice(this.#finished, end)));
      this.#finished = end;
    }
  }

  /** Ends the text: the rest becomes a line. */
  end(): string[] {
    const { rest } = this;
    this.#finished = this.#text.length;
    return rest === '' ? [] : [withoutBreak(rest)];
  }

  #nextEnd(): number | undefined {
    const lineBreak = this.#text.indexOf('\n', this.#finished);
    if (lineBreak !== -1) return lineBreak + 1;
    const most = this.#finished + LONGEST_LINE;
    if (this.#text.length <= most) return undefined;
    const blank = this.#text.lastIndexOf(' ', most);
    return blank > this.#finished ? blank + 1 : most;
  }
}

function withoutBreak(line: string): string {
  return line.replace(/\r?\n$/, '');
}
