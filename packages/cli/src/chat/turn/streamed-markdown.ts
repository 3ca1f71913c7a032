/**
 * An answer that is being streamed. A block of Markdown is finished when the next one begins; until then it is drawn again
 * with each piece. Lines of code and items of a list are finished one by one. At most `LONGEST` characters are unfinished.
 */
import { codeLine, readBlocks, renderMarkdown, withoutEnd } from '../markdown/render-markdown.ts';
import { emptyLine, type Line } from '../screen/line.ts';

const LONGEST = 4_000;
const OPENING = /^( {0,3}(?:`{3,}|~{3,}))[^`\n]*\n/;
const OPENING_IN_ITEM = /^[-*+\d.)\s]*(`{3,}|~{3,})(?=[^`]*$)/;

export class StreamedMarkdown {
  /** The whole text so far. */
  #text = '';
  /** The text that is not finished. */
  #rest = '';
  /** The marks that begin the block of code that is being written, with their indentation. */
  #fence: string | undefined;
  #hasFinished = false;

  constructor(private readonly columns: () => number) {}

  get text(): string {
    return this.#text;
  }

  get hasFinished(): boolean {
    return this.#hasFinished;
  }

  /** Adds a piece of text and returns the lines that it finishes. */
  add(piece: string): Line[] {
    this.#text += piece;
    const lines: Line[] = [];
    for (let at = 0; at < piece.length; at += LONGEST) {
      const part = piece.slice(at, at + LONGEST);
      this.#rest += part;
      if (part.includes('\n') || this.#rest.length > LONGEST) lines.push(...this.#finish());
    }
    return lines;
  }

  /** Ends the text, and returns its last lines. */
  end(): Line[] {
    if (this.#rest !== '' && !this.#rest.endsWith('\n')) this.#rest += '\n';
    const lines = [...this.#finish(), ...this.live()];
    this.#rest = '';
    return [...withoutEnd(lines)];
  }

  /** Returns the lines of the part that is not finished. */
  live(): Line[] {
    const lines = this.#fence === undefined ? renderMarkdown(this.#rest, this.columns()) : [codeLine(this.#rest)];
    return this.#rest === '' ? [] : [...withoutEnd(lines)];
  }

  #finish(): Line[] {
    this.#rest = this.#rest.replaceAll('\r\n', '\n');
    const lines: Line[] = [];
    for (let more = this.#next(); more !== undefined; more = this.#next()) lines.push(...more);
    // Blank lines before the first block do not count.
    const begin = this.#hasFinished ? 0 : lines.findIndex((each) => each !== emptyLine);
    if (begin === -1) return [];
    this.#hasFinished ||= lines.length > 0;
    return lines.slice(begin);
  }

  /** Takes the next finished part off the rest; `undefined` if there is none. */
  #next(): Line[] | undefined {
    if (this.#fence !== undefined) return this.#nextCode(this.#fence);
    const [opening, fence] = OPENING.exec(this.#rest) ?? [];
    if (opening !== undefined) {
      this.#fence = fence;
      this.#rest = this.#rest.slice(opening.length);
      return [];
    }
    const { finished, rest, fence: open } = splitFinished(this.#rest);
    if (finished === '') return undefined;
    [this.#rest, this.#fence] = [rest, open];
    return renderMarkdown(finished, this.columns());
  }

  #nextCode(fence: string): Line[] | undefined {
    const end = this.#rest.indexOf('\n');
    if (end === -1 && this.#rest.length <= LONGEST) return undefined;
    const code = this.#rest.slice(0, end === -1 ? LONGEST : end);
    this.#rest = this.#rest.slice(end === -1 ? LONGEST : end + 1);
    if (!isClosing(code, fence)) return [codeLine(code)];
    this.#fence = undefined;
    // With a line break after it, the block may be followed by a blank line.
    this.#rest = `\n${this.#rest}`;
    return [];
  }
}

/** Marks that are indented by four more columns than `fence` are code. */
function isClosing(code: string, fence: string): boolean {
  const [marks, begin] = [code.trim(), fence.trim()];
  const isDeep = code.search(/\S/) - fence.search(/\S/) > 3;
  return !isDeep && marks.startsWith(begin) && marks === begin.charAt(0).repeat(marks.length);
}

/** Returns the marks of the block of code that is open at the end of a list. */
function openFence(list: string): string | undefined {
  let fence: string | undefined;
  for (const each of list.split('\n')) {
    const [begin = '', marks] = OPENING_IN_ITEM.exec(each) ?? [];
    if (fence === undefined) fence = marks?.padStart(begin.length);
    else if (isClosing(each, fence)) fence = undefined;
  }
  return fence;
}

/** Only complete lines are read, because the end of a line can change what it is. */
function splitFinished(text: string) {
  const end = text.lastIndexOf('\n') + 1;
  const blocks = readBlocks(text.slice(0, end));
  const last = blocks.findLastIndex(({ type }) => type !== 'space');
  const before = blocks
    .slice(0, Math.max(0, last))
    .map(({ raw }) => raw)
    .join('');
  if (before !== '') return { finished: before, rest: text.slice(before.length) };
  const block = blocks[last];
  if (block?.type === 'list' && block.items.length > 1) {
    const finished = block.items
      .slice(0, -1)
      .map(({ raw }) => raw)
      .join('');
    const number = block.ordered ? String(Number(block.start) + block.items.length - 1) : '';
    return { finished, rest: text.slice(finished.length).replace(/(?<=^ *)\d+/, number) };
  }
  if (text.length <= LONGEST) return { finished: '', rest: text };
  const cut = placeToCut(text);
  // A table goes on below its head.
  const head = block?.type === 'table' ? `${text.split('\n', 2).join('\n')}\n` : '';
  const finished = text.slice(0, cut);
  const fence = block?.type === 'list' ? openFence(finished) : undefined;
  return { finished, rest: (head.length < cut ? head : '') + text.slice(cut), fence };
}

/** Cuts a long block after its last line or its last word. */
function placeToCut(text: string): number {
  const lastLine = text.lastIndexOf('\n', LONGEST - 1) + 1;
  if (lastLine > 0) return lastLine;
  const blank = text.lastIndexOf(' ', LONGEST);
  return blank > 0 ? blank + 1 : LONGEST;
}
