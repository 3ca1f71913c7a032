/** Messages from the orchestrator to a connector process. */
import type { ConnectorAcceptance, ConnectorAnswer } from '@goondan/types';
import { frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  jsonObject,
  literal,
  name,
  object,
  oneByField,
  type OneOf,
  optional,
  text,
} from './check/shape.ts';
import { finishReason, tokenUsage, turnError } from './check/turn-result.ts';
import { droppedCounts, turnDelta } from './from-agent.ts';

const acceptanceFields = {
  agent: name,
  instanceKey: name,
  turnId: name,
  traceId: name,
  duplicate: flag,
} satisfies FieldsOf<ConnectorAcceptance>;

const answer: Check<ConnectorAnswer> = object({
  ...acceptanceFields,
  response: text,
  finishReason,
  truncated: optional(flag),
  error: optional(turnError),
  usage: tokenUsage,
} satisfies FieldsOf<ConnectorAnswer>);

const askOutcomes = {
  answered: () => object({ status: literal('answered'), answer }),
  failed: () => object({ status: literal('failed'), error: frameError }),
};

/** The outcome of an ask: its turn has ended, successfully or not, or its end cannot be known. */
export type AskOutcome = OneOf<typeof askOutcomes>;

const askOutcome: Check<AskOutcome> = oneByField<'status', AskOutcome>('status', askOutcomes);

const toConnector = {
  start: () => object({ type: literal('start'), plan: jsonObject }),
  /** The event with this id is on disk. This message is never sent earlier. */
  'connector.accepted': () => object({ type: literal('connector.accepted'), id: name }),
  'connector.refused': () => object({ type: literal('connector.refused'), id: name, error: frameError }),
  /** The event of this ask is on disk. */
  'ask.accepted': () => object({ type: literal('ask.accepted'), askId: name, acceptance: object(acceptanceFields) }),
  /** A piece of the answer. It may be dropped. */
  'ask.delta': () => object({ type: literal('ask.delta'), askId: name, delta: turnDelta }),
  /** The last message about this ask. */
  'ask.ended': () => object({ type: literal('ask.ended'), askId: name, outcome: askOutcome }),
  ping: () => object({ type: literal('ping'), n: count }),
  drain: () => object({ type: literal('drain'), graceMs: count }),
  /** Made by the channel itself. */
  dropped: () => object({ type: literal('dropped'), counts: droppedCounts }),
};

export type ToConnector = OneOf<typeof toConnector>;

export const checkToConnector: Check<ToConnector> = oneByField<'type', ToConnector>('type', toConnector);
