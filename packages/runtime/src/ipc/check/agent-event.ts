import {
  type AgentAddress,
  type AgentCard,
  type AgentEvent,
  type AgentInstance,
  type ConnectionCard,
  type EventRoot,
  GoondanError,
  type OutputDemand,
} from '@goondan/types';
import { readDemand } from '../../json/read-demand.ts';
import { contentPart } from './content-part.ts';
import { instanceState } from './instance-state.ts';
import { outputShape } from './output-shape.ts';
import {
  type Check,
  date,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  name,
  object,
  oneOf,
  optional,
  ShapeError,
  text,
} from './shape.ts';

export const agentAddress: Check<AgentAddress> = object({ agentName: name, instanceKey: name });

export const agentInstance: Check<AgentInstance> = object({
  agentName: name,
  instanceKey: name,
  status: instanceState,
} satisfies FieldsOf<AgentInstance>);

export const agentCard: Check<AgentCard> = object({
  name,
  description: optional(text),
} satisfies FieldsOf<AgentCard>);

export const connectionCard: Check<ConnectionCard> = object({
  name,
  connector: name,
} satisfies FieldsOf<ConnectionCard>);

/**
 * A demand in a frame. Its sender has checked the schema, so a schema that cannot be used is a forged frame. It must not
 * reach an inbox, because no process could handle the event.
 */
export const outputDemand: Check<OutputDemand> = (value) => {
  const { schema, retries } = outputShape(value);
  try {
    return readDemand({ schema, ...(retries === undefined ? {} : { retries }) });
  } catch (error) {
    throw GoondanError.is(error) ? new ShapeError(`cannot be used: ${error.message}`) : error;
  }
};

/** An agent event in a frame. Its field with the sender is not trusted, because the channel determines the sender. */
export const agentEvent: Check<AgentEvent> = object({
  id: name,
  type: name,
  input: optional(text),
  content: optional(listOf(contentPart)),
  instanceKey: name,
  delivery: optional(oneOf('now')),
  source: object({ kind: oneOf('agent', 'connector', 'cli'), name }),
  auth: optional(jsonObject),
  replyTo: optional(object({ target: name, correlationId: name })),
  metadata: optional(jsonObject),
  output: optional(outputDemand),
  callChain: optional(listOf(agentAddress)),
  root: optional(object({ connection: name, eventId: name } satisfies FieldsOf<EventRoot>)),
  traceId: name,
  parentSpanId: optional(name),
  isSampled: optional(flag),
  createdAt: date,
} satisfies FieldsOf<AgentEvent>);
