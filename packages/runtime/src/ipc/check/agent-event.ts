import type { AgentAddress, AgentCard, AgentEvent, AgentInstance, ConnectionCard } from '@goondan/types';
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
  text,
} from './shape.ts';

export const agentAddress: Check<AgentAddress> = object({ agentName: name, instanceKey: name });

export const instanceState: Check<AgentInstance['status']> = oneOf(
  'working',
  'idle',
  'starting',
  'waiting',
  'does not start',
  'stopped',
  'asleep',
);

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

/** An agent event in a frame. Its field with the sender is not trusted, because the channel determines the sender. */
export const agentEvent: Check<AgentEvent> = object({
  id: name,
  type: name,
  input: optional(text),
  instanceKey: name,
  source: object({ kind: oneOf('agent', 'connector', 'cli'), name }),
  auth: optional(jsonObject),
  replyTo: optional(object({ target: name, correlationId: name })),
  metadata: optional(jsonObject),
  callChain: optional(listOf(agentAddress)),
  traceId: name,
  parentSpanId: optional(name),
  isSampled: optional(flag),
  createdAt: date,
} satisfies FieldsOf<AgentEvent>);
