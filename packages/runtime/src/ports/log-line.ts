/** A structured log line: the same in a child process, on its way to the orchestrator, and in a file. */
import type { CodePlace, JsonValue } from '@goondan/types';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A line of an agent instance, of a connection, or, with neither, of the orchestrator itself. */
export interface LogLine {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly agent?: string;
  readonly instance?: string;
  readonly connection?: string;
  readonly extension?: string;
  readonly turnId?: string;
  readonly traceId?: string;
  /** A fixed name for programs that search lines: `middleware.short_circuit`, `message.ignored`, … */
  readonly event?: string;
  /** The place where bundle code threw; `data.stack` has the stack. */
  readonly place?: CodePlace;
  readonly data?: JsonValue;
}
