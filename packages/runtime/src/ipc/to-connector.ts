/** Messages of the orchestrator to a connector process. */
import type { ConnectorAcceptance, ConnectorAnswer, JsonObject, TurnDelta } from '@goondan/types';
import { type FrameError, frameError } from './check/frame-error.ts';
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
  optional,
  text,
} from './check/shape.ts';
import { finishReason, tokenUsage, turnError } from './check/turn-result.ts';
import { type DroppedCounts, droppedCounts, turnDelta } from './from-agent.ts';

/** The outcome of an ask: its turn is over, successful or not, or its end cannot be known. */
export type AskOutcome =
  | { readonly status: 'answered'; readonly answer: ConnectorAnswer }
  | { readonly status: 'failed'; readonly error: FrameError };

export type ToConnector =
  | { readonly type: 'start'; readonly plan: JsonObject }
  /** The event with this id is on disk; never sent before that. */
  | { readonly type: 'connector.accepted'; readonly id: string }
  | { readonly type: 'connector.refused'; readonly id: string; readonly error: FrameError }
  /** The event of that ask is on disk. */
  | { readonly type: 'ask.accepted'; readonly askId: string; readonly acceptance: ConnectorAcceptance }
  /** May be dropped. */
  | { readonly type: 'ask.delta'; readonly askId: string; readonly delta: TurnDelta }
  /** The last message about that ask. */
  | { readonly type: 'ask.ended'; readonly askId: string; readonly outcome: AskOutcome }
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'drain'; readonly graceMs: number }
  /** Sent by the channel itself. */
  | { readonly type: 'dropped'; readonly counts: DroppedCounts };

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

const askOutcome: Check<AskOutcome> = oneByField<'status', AskOutcome>('status', {
  answered: () => object({ status: literal('answered'), answer }),
  failed: () => object({ status: literal('failed'), error: frameError }),
});

export const checkToConnector: Check<ToConnector> = oneByField<'type', ToConnector>('type', {
  start: () => object({ type: literal('start'), plan: jsonObject }),
  'connector.accepted': () => object({ type: literal('connector.accepted'), id: name }),
  'connector.refused': () => object({ type: literal('connector.refused'), id: name, error: frameError }),
  'ask.accepted': () => object({ type: literal('ask.accepted'), askId: name, acceptance: object(acceptanceFields) }),
  'ask.delta': () => object({ type: literal('ask.delta'), askId: name, delta: turnDelta }),
  'ask.ended': () => object({ type: literal('ask.ended'), askId: name, outcome: askOutcome }),
  ping: () => object({ type: literal('ping'), n: count }),
  drain: () => object({ type: literal('drain'), graceMs: count }),
  dropped: () => object({ type: literal('dropped'), counts: droppedCounts }),
});
