/** A structured log line: the same in a child process, on its way to the orchestrator, and in a file. */
import type { CodePlace, JsonValue } from '@goondan/types';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Of an agent's instance, of a connection, or, with neither, of the orchestrator itself. */
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
  /** For lines a program may look for: `middleware.short_circuit`, `message.ignored`, … */
  readonly event?: string;
  /** Where code of the bundle threw, of a line about that; `data.stack` has the stack. */
  readonly place?: CodePlace;
  readonly data?: JsonValue;
}
