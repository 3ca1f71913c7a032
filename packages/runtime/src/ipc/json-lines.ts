/** Writes and reads JSON values between two of our own programs, one value per line. */
import { FrameSplitter } from './channel/frame-splitter.ts';

/** The maximum length of a line in bytes. The longest values are recordings. */
const LONGEST_LINE = 512_000_000;

export function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Yields the values until the stream ends. They are not checked, because both programs belong to one package. */
export async function* readLines<Value>(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Value> {
  const splitter = new FrameSplitter(LONGEST_LINE);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    splitter.push(chunk);
    for (let split = splitter.next(); split !== undefined; split = splitter.next()) {
      if (typeof split === 'string') throw new RangeError(`A line has more than ${LONGEST_LINE} bytes.`);
      yield JSON.parse(decoder.decode(split)) as Value;
    }
  }
}
