/** `ctx.runtime`: what a turn or step layer can know about its agent and its surroundings. */
import type { AgentAddress, AgentEventSource, ReplyAddress } from './agent-event.ts';
import type { AgentCard } from './agents-api.ts';
import type { JsonObject } from './json.ts';

/**
 * A deeply frozen view of the agent, as JSON values. It is made when a layer of the turn first reads it, and then stays
 * the same for the whole turn. It contains no secrets and no environment variables.
 */
export interface RuntimeView {
  /** The agent of this turn. */
  readonly agent: RuntimeAgent;
  /** The agent's model. A `model` layer may choose another model for a call. */
  readonly model: RuntimeModel;
  /** The tools of the agent, in the order of the catalog, before step layers change the catalog. */
  readonly tools: readonly RuntimeTool[];
  /** The other agents that this agent may call: all agents of the swarm, or those in its `mayAsk`. */
  readonly agents: readonly AgentCard[];
  /** The connections of the swarm whose events can reach this agent. */
  readonly connections: readonly ConnectionCard[];
  /** The event that this turn handles, without its input and its `auth`. */
  readonly inboundEvent: InboundEvent;
}

export interface RuntimeAgent extends AgentCard {
  readonly instanceKey: string;
}

export interface RuntimeModel {
  /** The reference of the model: `Model/name`. */
  readonly ref: string;
  /** The provider; absent for a model that a program passed in as an object. */
  readonly provider?: string;
  /** The provider's own name of the model; absent for a model that a program passed in as an object. */
  readonly name?: string;
}

export interface RuntimeTool {
  /** `{resource}__{export}`. */
  readonly name: string;
  readonly description: string;
  /** The extension that registered the tool; absent for a tool that the bundle declares. */
  readonly extension?: string;
}

/** A connection, as the agents that it leads to see it. */
export interface ConnectionCard {
  readonly name: string;
  /** The name of the connection's connector. */
  readonly connector: string;
}

/** An agent event without its input and its `auth`. */
export interface InboundEvent {
  readonly id: string;
  readonly type: string;
  readonly source: AgentEventSource;
  readonly replyTo?: ReplyAddress;
  readonly metadata?: JsonObject;
  /** The agent instances that wait for the answer, outermost caller first. */
  readonly callChain?: readonly AgentAddress[];
  /** The time of the event, in ISO 8601. */
  readonly createdAt: string;
}
