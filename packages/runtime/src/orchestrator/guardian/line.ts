/**
 * The line between the orchestrator and its guardian: a few short lines of text each way, and the signal that it is
 * cut.
 */
import { socketWire } from '../../ipc/channel/socket-wire.ts';

/**
 * Takes over the descriptor. All messages fit into the buffer of the system, so they are written at once or not at all.
 */
export function openLine(descriptor: number, keepsAlive = true) {
  const decoder = new TextDecoder();
  const closed = Promise.withResolvers<void>();
  const unread: string[] = [];
  let rest = '';
  let isClosed = false;
  let wake: (() => void) | undefined;
  const wire = socketWire(
    descriptor,
    keepsAlive,
  )({
    data(chunk) {
      const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
      rest += first;
      for (const text of more) {
        unread.push(rest);
        rest = text;
      }
      wake?.();
    },
    drain: () => undefined,
    closed() {
      isClosed = true;
      closed.resolve();
      wake?.();
    },
  });
  /** Yields the lines of the other side; they end when the line is cut. */
  async function* lines(): AsyncGenerator<string> {
    for (;;) {
      const line = unread.shift();
      if (line !== undefined) yield line;
      else if (isClosed) return;
      else await new Promise<void>((resolve) => void (wake = resolve));
    }
  }
  return {
    /** Sends a line of text; does nothing when the connection is cut. */
    say: (text: string) => void wire.write(Buffer.from(`${text}\n`)),
    lines,
    /** Resolves with the next line as JSON; undefined when the line is cut. */
    async next(): Promise<unknown> {
      for await (const line of lines()) return JSON.parse(line) as unknown;
    },
    closed: closed.promise,
    close: () => wire.end(),
  };
}
