/** A structured log line, in the same form in a child process, on its way to the orchestrator, and in a file. */
import type { CodePlace, JsonValue } from '@goondan/types';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A log line about an agent instance or a connection. If it names neither, it is about the orchestrator itself. */
export interface LogLine {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  /** The name of the node that wrote the line, if the swarm runs on many nodes. */
  readonly node?: string;
  readonly agent?: string;
  readonly instance?: string;
  readonly connection?: string;
  readonly extension?: string;
  readonly turnId?: string;
  readonly traceId?: string;
  /** A fixed name, by which programs can search lines: `middleware.short_circuit`, `message.ignored`, … */
  readonly event?: string;
  /** The place where bundle code threw; `data.stack` has the stack. */
  readonly place?: CodePlace;
  readonly data?: JsonValue;
}
