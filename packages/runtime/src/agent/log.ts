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

/** Takes finished lines, secrets already masked. Must not throw. */
export type LogSink = (line: LogLine) => void;

/** One JSON object a line on standard error. */
export const stderrSink: LogSink = (line) => {
  process.stderr.write(`${JSON.stringify(line)}\n`);
};
