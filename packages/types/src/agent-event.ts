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

/** One agent instance: where an event goes. */
export interface AgentAddress {
  readonly agentName: string;
  readonly instanceKey: string;
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
  /** The instances that wait for this event's answer, the first caller first. Stamped by the runtime. */
  readonly callChain?: readonly AgentAddress[];
  /** Ties the turns of one question together. 32 lowercase hexadecimal digits; another text is carried as it is. */
  readonly traceId: string;
  /**
   * The span that asked for this turn, of another agent or of a caller outside: the turn's own span hangs under it. 16
   * lowercase hexadecimal digits; another text does not count.
   */
  readonly parentSpanId?: string;
  /** False: whoever began the trace does not record it, so no spans of it are exported. Handed on to called agents. */
  readonly isSampled?: boolean;
  readonly createdAt: Date;
}
