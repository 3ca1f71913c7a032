/** Where log lines go. */
import type { LogLevel, LogLine } from '../ports/log-line.ts';

export type { LogLevel, LogLine } from '../ports/log-line.ts';

/** A message longer than this is cut: a log is for reading. */
const LONGEST_MESSAGE = 16_384;

/** Only once secrets are masked: half of one would not be found any more. */
export function cutMessage(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  return `${message.slice(0, LONGEST_MESSAGE)}… (${message.length} characters)`;
}

/** Writes one line, about an extension or an event where one is named. */
export type Log = (
  level: LogLevel,
  message: string,
  about?: Pick<LogLine, 'extension' | 'event' | 'place' | 'data'>,
) => void;

/** Takes finished lines, secrets already masked. Must not throw. */
export type LogSink = (line: LogLine) => void;

/** One JSON object a line on standard error. */
export const stderrSink: LogSink = (line) => {
  process.stderr.write(`${JSON.stringify(line)}\n`);
};
