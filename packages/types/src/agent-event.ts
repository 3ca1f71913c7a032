import type { JsonObject } from './json.ts';

/** The origin of an event. The runtime sets it, never the sender. */
export interface AgentEventSource {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
}

/** The address for the answer, when a caller waits for it. */
export interface ReplyAddress {
  readonly target: string;
  readonly correlationId: string;
}

/** One agent instance, the address of an event. */
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
  /** The identity of the sender, as the connector established it. Passed on unchanged; bundle code cannot set it. */
  readonly auth?: JsonObject;
  readonly replyTo?: ReplyAddress;
  readonly metadata?: JsonObject;
  /** The instances that wait for this event's answer, the first caller first. The runtime sets it. */
  readonly callChain?: readonly AgentAddress[];
  /** Ties the turns of one question together. 32 lowercase hexadecimal digits; any other text is kept unchanged. */
  readonly traceId: string;
  /**
   * The span that asked for this turn, of another agent or of an outside caller: the parent of the turn's span. 16
   * lowercase hexadecimal digits; any other text is ignored.
   */
  readonly parentSpanId?: string;
  /** False: the caller does not record the trace, so its spans are not exported. Passed on to called agents. */
  readonly isSampled?: boolean;
  readonly createdAt: Date;
}
