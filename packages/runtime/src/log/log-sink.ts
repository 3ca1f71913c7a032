/** The receivers of log lines. */
import type { LogLevel, LogLine } from '../ports/log-line.ts';

/** The maximum length of a message in characters; a longer message is cut. */
const LONGEST_MESSAGE = 16_384;

/** Cuts a message. Mask secrets first, because a secret that was cut in half would not be found. */
export function cutMessage(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  return `${message.slice(0, LONGEST_MESSAGE)}… (${message.length} characters)`;
}

/** Writes one line, optionally about an extension or an event. */
export type Log = (
  level: LogLevel,
  message: string,
  about?: Pick<LogLine, 'extension' | 'event' | 'place' | 'data'>,
) => void;

/** Writes one JSON object per line to standard error. */
export function stderrSink(line: LogLine): void {
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
