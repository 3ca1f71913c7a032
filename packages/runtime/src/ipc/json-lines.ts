/** Writes and reads JSON values between two of our own programs, one per line. */
import { FrameSplitter } from './channel/frame-splitter.ts';

/** In bytes. A recording is the longest value. */
const LONGEST_LINE = 512_000_000;

export function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Yields the values, and ends with the stream. They are trusted: both programs are of one package. */
export async function* readLines<Value>(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Value> {
  const splitter = new FrameSplitter(LONGEST_LINE);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    splitter.push(chunk);
    for (let split = splitter.next(); split !== undefined; split = splitter.next()) {
      if ('tooLong' in split) throw new RangeError(`A line has more than ${LONGEST_LINE} bytes.`);
      yield JSON.parse(decoder.decode(split.frame)) as Value;
    }
  }
}
