/** Splits bytes into lines of bounded length. A longer line keeps its beginning and the number of further characters. */

export interface CutLine {
  readonly text: string;
  /** The number of characters after `text` that were left out. */
  readonly cutOff?: number;
}

const NEWLINE = 10;

export class LineCutter {
  private decoder = new TextDecoder();
  private line = '';
  private cutOff = 0;

  constructor(private readonly longest: number) {}

  push(chunk: Uint8Array): CutLine[] {
    const [first = '', ...rest] = this.decoder.decode(chunk, { stream: true }).split('\n');
    this.append(first);
    return rest.map((text) => {
      const line = this.take();
      this.append(text);
      return line;
    });
  }

  /** Like `push`, but for lines that will be dropped. It returns only their number, which costs much less. */
  skip(chunk: Uint8Array): number {
    let count = 0;
    for (const byte of chunk) if (byte === NEWLINE) count += 1;
    if (count === 0) {
      this.push(chunk);
      return 0;
    }
    this.decoder = new TextDecoder();
    this.take();
    this.push(chunk.subarray(chunk.lastIndexOf(NEWLINE) + 1));
    return count;
  }

  /** Returns the text after the last line break, if any. */
  end(): CutLine[] {
    this.append(this.decoder.decode());
    return this.line === '' ? [] : [this.take()];
  }

  private append(text: string): void {
    const room = this.longest - this.line.length;
    this.line += text.slice(0, room);
    this.cutOff += Math.max(0, text.length - room);
  }

  private take(): CutLine {
    const { line: text, cutOff } = this;
    const line = cutOff === 0 ? { text: text.replace(/\r$/, '') } : { text, cutOff };
    this.line = '';
    this.cutOff = 0;
    return line;
  }
}
