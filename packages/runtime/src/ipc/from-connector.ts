/** Messages from a connector process to the orchestrator. */
import type { ConnectorEvent, ContentPart } from '@goondan/types';
import { isSpanId, isTraceId } from '../trace/span-id.ts';
import { outputDemand } from './check/agent-event.ts';
import { connectorReply } from './check/connector-question.ts';
import { contentPart } from './check/content-part.ts';
import { frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  date,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  ShapeError,
  name,
  object,
  oneByField,
  optional,
  text,
} from './check/shape.ts';
import { logLine } from './check/log-line.ts';
import { droppedCounts, uploadPiece } from './from-agent.ts';

/** A connector event in a frame: its id is a separate field, and its time is always set. */
export interface HeardEvent extends Omit<ConnectorEvent, 'id' | 'createdAt' | 'content'> {
  /** Files are references to uploads of this connector. */
  readonly content?: readonly ContentPart[];
  readonly createdAt: Date;
}

const traceId: Check<string> = (value) => {
  if (!isTraceId(value)) throw new ShapeError('is not 32 lowercase hexadecimal digits');
  return value;
};

const spanId: Check<string> = (value) => {
  if (!isSpanId(value)) throw new ShapeError('is not 16 lowercase hexadecimal digits');
  return value;
};

export const heardEvent: Check<HeardEvent> = object({
  name,
  input: optional(text),
  content: optional(listOf(contentPart)),
  properties: optional(jsonObject),
  auth: optional(jsonObject),
  metadata: optional(jsonObject),
  output: optional(outputDemand),
  createdAt: date,
  traceId: optional(traceId),
  parentSpanId: optional(spanId),
  isSampled: optional(flag),
} satisfies FieldsOf<HeardEvent>);

export const checkFromConnector = oneByField('type', {
  /** The connector is listening. */
  ready: () => ({}),
  /** The connector cannot start, or cannot continue, and exits. */
  failed: () => ({ error: frameError }),
  /**
   * An event. Answered by `connector.accepted` or `connector.refused`. A second event with the same id is a duplicate.
   */
  'connector.event': () => ({ id: name, event: heardEvent }),
  /**
   * Like `connector.event`, but waits for the end of the turn. Answered by `ask.accepted`, by `ask.delta` if requested,
   * and by `ask.ended`. Two asks for one event are separate.
   */
  'connector.ask': () => ({ askId: name, id: name, event: heardEvent, wantsDeltas: flag }),
  /** The connector no longer waits for this ask. If `cancel` is true, its turn ends. */
  'ask.left': () => ({ askId: name, cancel: flag }),
  /** The answer of a person to a question. Answered by `question.taken` or `question.refused`. */
  'question.answer': () => ({ callId: name, reply: connectorReply }),
  /** A piece of a file of an event; see `connector-files.ts`. Answered by `file.taken` or `file.refused`. */
  'file.put': () => ({ callId: name, ...uploadPiece }),
  /** The events with these uploads are accepted or refused. */
  'file.release': () => ({ uploads: listOf(name) }),
  log: () => ({ line: logLine }),
  pong: () => ({ n: count }),
  /** The last message: the connector accepts no more events, and every event was answered. */
  drained: () => ({}),
  /** The channel itself makes this message. */
  dropped: () => ({ counts: droppedCounts }),
});

export type FromConnector = ReturnType<typeof checkFromConnector>;
