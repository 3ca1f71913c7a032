/** Where log lines go. */
import type { LogLine } from '../ports/log-line.ts';

export type { LogLevel, LogLine } from '../ports/log-line.ts';

/** Takes finished lines, secrets already masked. Must not throw. */
export type LogSink = (line: LogLine) => void;

/** One JSON object a line on standard error. */
export const stderrSink: LogSink = (line) => {
  process.stderr.write(`${JSON.stringify(line)}\n`);
};
