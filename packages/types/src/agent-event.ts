import type { JsonObject } from './json.ts';

/** Where an event came from. Stamped by the runtime, never by the sender. */
export interface AgentEventSource {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
}

/** Where the answer goes when somebody waits for it. */
export interface ReplyAddress {
  readonly target: string;
  readonly correlationId: string;
}

/** One piece of input for one agent instance. A turn handles exactly one of these. */
export interface AgentEvent {
  /** Unique; the same id is never handled twice. */
  readonly id: string;
  readonly type: string;
  /** The text to answer. An event without it starts a turn that appends no message. */
  readonly input?: string;
  readonly instanceKey: string;
  readonly source: AgentEventSource;
  /** Who is asking, as the connector established it. Handed on unchanged; bundle code cannot set it. */
  readonly auth?: JsonObject;
  readonly replyTo?: ReplyAddress;
  readonly metadata?: JsonObject;
  readonly traceId: string;
  readonly createdAt: Date;
}
