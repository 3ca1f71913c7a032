/**
 * The connection between the orchestrator and its guardian: a few short text lines each way. Each side detects when the
 * connection is closed.
 */
import { socketWire } from '../../ipc/channel/socket-wire.ts';
import type { Check } from '../../ipc/check/shape.ts';

/** Takes over the descriptor. All messages fit into the system's buffer, so each is written at once or not at all. */
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
  /** Yields the lines of the other side, until the connection is closed. */
  async function* lines(): AsyncGenerator<string> {
    for (;;) {
      const line = unread.shift();
      if (line !== undefined) yield line;
      else if (isClosed) return;
      else await new Promise<void>((resolve) => void (wake = resolve));
    }
  }
  return {
    /** Sends a line of text; does nothing when the connection is closed. */
    say: (text: string) => void wire.write(Buffer.from(`${text}\n`)),
    lines,
    /** Resolves with the next line, parsed as JSON and checked; `undefined` when the connection is closed. */
    async next<Value>(check: Check<Value>): Promise<Value | undefined> {
      for await (const line of lines()) return check(JSON.parse(line));
      return undefined;
    },
    closed: closed.promise,
    close: () => wire.end(),
  };
}
