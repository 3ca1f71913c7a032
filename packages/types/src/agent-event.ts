import type { JsonObject } from './json.ts';
import type { ContentPart } from './model-message.ts';
import type { OutputDemand } from './output.ts';

/** The origin of an event. The runtime sets the origin; the sender cannot. */
export interface AgentEventSource {
  readonly kind: 'agent' | 'connector' | 'cli';
  readonly name: string;
}

/** The address to send the answer to, when a caller waits for the answer. */
export interface ReplyAddress {
  readonly target: string;
  readonly correlationId: string;
}

/** The event of a Connection that began some work, also the work of other agents. */
export interface EventRoot {
  /** The name of the Connection. */
  readonly connection: string;
  readonly eventId: string;
}

/** Identifies one agent instance. Events are addressed to it. */
export interface AgentAddress {
  readonly agentName: string;
  readonly instanceKey: string;
}

/**
 * One piece of input for one agent instance. An event has a turn of its own, unless it is delivered `now` and a running
 * turn takes it.
 */
export interface AgentEvent {
  /** The unique id of the event. The runtime never handles two events with the same id. */
  readonly id: string;
  readonly type: string;
  /**
   * The text that the agent answers. An event with neither this field nor `content` starts a turn that appends no
   * message.
   */
  readonly input?: string;
  /** Images, files and further text, after `input`. Their bytes are stored, and each part has a reference to them. */
  readonly content?: readonly ContentPart[];
  readonly instanceKey: string;
  /**
   * `now`: the input is for the running turn, and becomes a message before the next step of that turn. If no turn runs,
   * or the turn ends first, the event has a turn of its own. Absent for an event that waits for its own turn.
   */
  readonly delivery?: 'now';
  readonly source: AgentEventSource;
  /** The identity of the sender, as the connector established it. Passed on unchanged; bundle code cannot set it. */
  readonly auth?: JsonObject;
  readonly replyTo?: ReplyAddress;
  readonly metadata?: JsonObject;
  /** The demand for an answer that fits a JSON Schema. It wins over the `output` of the agent. */
  readonly output?: OutputDemand;
  /** The agent instances that wait for this event's answer, outermost caller first. Set by the runtime. */
  readonly callChain?: readonly AgentAddress[];
  /**
   * The event of a Connection that began the work, for an event that an agent sent. Set by the runtime; absent for that
   * event itself, and for work that did not begin with a Connection.
   */
  readonly root?: EventRoot;
  /**
   * The id of the trace, which connects all turns of one request. It has 32 lowercase hexadecimal digits; any other
   * text is kept unchanged.
   */
  readonly traceId: string;
  /**
   * The span that requested this turn, from another agent or from an outside caller. This span becomes the parent of
   * the turn's span. The id has 16 lowercase hexadecimal digits; any other text is ignored.
   */
  readonly parentSpanId?: string;
  /**
   * If false, the caller does not record this trace, so the turn's spans are not exported. Agents that this turn calls
   * get the same value.
   */
  readonly isSampled?: boolean;
  readonly createdAt: Date;
}
