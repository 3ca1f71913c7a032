/** Reads the events of a stream, one after the other. Comments are skipped. */
import { FrameSplitter } from '../ipc/channel/frame-splitter.ts';
import { notUnderstood } from './read-answer.ts';

/** The maximum length of a line in bytes. The data of an event is one line of JSON. */
const LONGEST_LINE = 64_000_000;

/**
 * Yields the events until the stream ends. Throws `E_CONTROL_ANSWER` for anything that is not an event stream, and the
 * errors of `bytes`.
 */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<{ event: string; data: unknown }> {
  const splitter = new FrameSplitter(LONGEST_LINE);
  const decoder = new TextDecoder();
  let event = 'message';
  let data: string | undefined;
  for await (const chunk of bytes) {
    splitter.push(chunk);
    for (let split = splitter.next(); split !== undefined; split = splitter.next()) {
      if (typeof split === 'string') throw notUnderstood(`an event of more than ${LONGEST_LINE} bytes`);
      const line = decoder.decode(split);
      if (line.startsWith('event: ')) event = line.slice('event: '.length);
      if (line.startsWith('data: ')) data = line.slice('data: '.length);
      if (line !== '') continue;
      if (data !== undefined) yield { event, data: parse(data) };
      event = 'message';
      data = undefined;
    }
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw notUnderstood('an event that is not JSON', error);
  }
}
