/**
 * Reads lines of a text file from a given line on, up to a number of lines and a size. The file may be larger than
 * memory.
 */
import { closeSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { FileConfig } from './file-config.ts';
import { fileError, fromSystem } from './file-error.ts';
import { openRegular } from './open-regular.ts';
import { walk } from './walk.ts';

export interface ReadAsk {
  readonly path: string;
  /** The first line, counted from 1. */
  readonly offset?: number;
  /** The number of lines. */
  readonly limit?: number;
  /** If true, puts the line number before each line. */
  readonly lineNumbers?: boolean;
}

const USUAL_LINES = 2_000;
/** The maximum length of a line, in characters; the rest of the line is left out. */
const LONGEST_LINE = 2_000;
/** The maximum number of bytes read to find the first line. */
const FARTHEST = 512_000_000;
const CHUNK = 65_536;

/** Reads the lines. In the result, `nextLine` is the number of the next line to read, if there are more lines. */
export function readText(ask: ReadAsk, { root, readLimit }: Pick<FileConfig, 'root' | 'readLimit'>) {
  using walked = walk(root, ask.path);
  const descriptor = openRegular(walked.found, ask.path);
  try {
    const first = ask.offset ?? 1;
    const most = ask.limit ?? USUAL_LINES;
    const given: string[] = [];
    let [number, bytes] = [0, 0];
    let isMore = false;
    for (const line of readLines(descriptor, ask.path)) {
      number += 1;
      if (number < first) continue;
      const shown = ask.lineNumbers === true ? `${String(number).padStart(6)}\t${line}` : line;
      bytes += Buffer.byteLength(shown);
      // At least one line is returned, so that repeated reads make progress.
      isMore = given.length === most || (bytes > readLimit && given.length > 0);
      if (isMore) break;
      given.push(shown);
    }
    if (given.length === 0 && first > Math.max(1, number)) {
      throw fileError('E_FILE_MISSING', ask.path, `has only ${number} lines`);
    }
    return {
      path: walked.path,
      text: given.join(''),
      firstLine: first,
      lines: given.length,
      ...(isMore ? { nextLine: number } : {}),
    };
  } catch (error) {
    throw fromSystem(ask.path, error);
  } finally {
    closeSync(descriptor);
  }
}

/** Yields lines including their line ends. Throws `E_FILE_TEXT` for a file that is not text. */
function* readLines(descriptor: number, path: string): Generator<string> {
  const decoder = new StringDecoder('utf8');
  const chunk = Buffer.alloc(CHUNK);
  let line = new Line();
  let position = 0;
  for (;;) {
    const count = readSync(descriptor, chunk, 0, CHUNK, position);
    if (position === 0 && chunk.subarray(0, count).includes(0))
      throw fileError('E_FILE_TEXT', path, 'is not a text file');
    position += count;
    if (position > FARTHEST) throw fileError('E_FILE_LIMIT', path, `has more than ${FARTHEST} bytes before that line`);
    const pieces = (count === 0 ? decoder.end() : decoder.write(chunk.subarray(0, count))).split('\n');
    for (const [index, piece] of pieces.entries()) {
      line.add(piece);
      if (index === pieces.length - 1) break;
      yield line.end('\n');
      line = new Line();
    }
    if (count > 0) continue;
    if (!line.isEmpty) yield line.end('');
    return;
  }
}

class Line {
  #text = '';
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: string): void {
    this.#length += piece.length;
    if (this.#text.length < LONGEST_LINE) this.#text += piece.slice(0, LONGEST_LINE - this.#text.length);
  }

  end(lineEnd: string): string {
    const left = this.#length - this.#text.length;
    return `${this.#text}${left === 0 ? '' : ` [… ${left} more characters in this line]`}${lineEnd}`;
  }
}
