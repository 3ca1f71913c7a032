/** Messages from the orchestrator to a connector process. */
import type { ConnectorAcceptance, ConnectorAnswer } from '@goondan/types';
import { questionChange } from './check/connector-question.ts';
import { frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  json,
  jsonObject,
  name,
  object,
  oneByField,
  optional,
  text,
} from './check/shape.ts';
import { finishReason, tokenUsage, turnError } from './check/turn-result.ts';
import { turnDelta } from './check/turn-delta.ts';
import { droppedCounts } from './from-agent.ts';

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
  output: optional(json),
  error: optional(turnError),
  usage: tokenUsage,
  called: optional(tokenUsage),
} satisfies FieldsOf<ConnectorAnswer>);

const askOutcome = oneByField('status', {
  answered: () => ({ answer }),
  failed: () => ({ error: frameError }),
});

/** The outcome of an ask: its turn has ended, successfully or not, or its end cannot be known. */
export type AskOutcome = ReturnType<typeof askOutcome>;

export const checkToConnector = oneByField('type', {
  start: () => ({ plan: jsonObject }),
  /** The event with this id is on disk. This message is never sent before that. */
  'connector.accepted': () => ({ id: name }),
  'connector.refused': () => ({ id: name, error: frameError }),
  /** The event of this ask is on disk. */
  'ask.accepted': () => ({ askId: name, acceptance: object(acceptanceFields) }),
  /** A piece of the answer. It may be dropped. */
  'ask.delta': () => ({ askId: name, delta: turnDelta }),
  /** The last message about this ask. */
  'ask.ended': () => ({ askId: name, outcome: askOutcome }),
  /** A question of a turn that this connection began was asked, or has ended. */
  'question.changed': () => ({ change: questionChange }),
  /** The answer to a question is durable. */
  'question.taken': () => ({ callId: name }),
  'question.refused': () => ({ callId: name, error: frameError }),
  /** A piece is taken. After the last one, the file is stored. */
  'file.taken': () => ({ callId: name }),
  'file.refused': () => ({ callId: name, error: frameError }),
  ping: () => ({ n: count }),
  drain: () => ({ graceMs: count }),
  /** The channel itself makes this message. */
  dropped: () => ({ counts: droppedCounts }),
});

export type ToConnector = ReturnType<typeof checkToConnector>;
