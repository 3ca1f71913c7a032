/** Structured log lines and where they go. */
import type { JsonValue } from '@goondan/types';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly agent: string;
  readonly instance: string;
  readonly extension?: string;
  readonly turnId?: string;
  readonly traceId?: string;
  /** For lines a program may look for: `middleware.short_circuit`, `message.ignored`, … */
  readonly event?: string;
  readonly data?: JsonValue;
}

/** A message longer than this is cut: a log is for reading. */
const LONGEST_MESSAGE = 16_384;

/** Only once secrets are masked: half of one would not be found any more. */
export function cutMessage(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  return `${message.slice(0, LONGEST_MESSAGE)}… (${message.length} characters)`;
}

/** Takes finished lines, secrets already masked. Must not throw. */
export type LogSink = (line: LogLine) => void;

/** One JSON object a line on standard error. */
export const stderrSink: LogSink = (line) => {
  process.stderr.write(`${JSON.stringify(line)}\n`);
};
