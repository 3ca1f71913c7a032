/** Messages of a connector process to the orchestrator. */
import type { ConnectorEvent } from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import { isSpanId, isTraceId } from '../trace/span-id.ts';
import { type FrameError, frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  date,
  type FieldsOf,
  flag,
  jsonObject,
  literal,
  Misfit,
  name,
  object,
  oneByField,
  optional,
  text,
} from './check/shape.ts';
import { type DroppedCounts, droppedCounts, logLine } from './from-agent.ts';

/** A connector event on the wire: its id is a separate field, and its time is set. */
export interface HeardEvent extends Omit<ConnectorEvent, 'id' | 'createdAt'> {
  readonly createdAt: Date;
}

export type FromConnector =
  /** The connector listens. */
  | { readonly type: 'ready' }
  /** The connector cannot start, or cannot continue, and ends. */
  | { readonly type: 'failed'; readonly error: FrameError }
  /** Answered by `connector.accepted` or `connector.refused`. The same id twice is the same event. */
  | { readonly type: 'connector.event'; readonly id: string; readonly event: HeardEvent }
  /**
   * Like `connector.event`, with a wait for the end of the turn: answered by `ask.accepted`, `ask.delta` if wanted,
   * `ask.ended`. Two asks for one event are separate.
   */
  | {
      readonly type: 'connector.ask';
      readonly askId: string;
      readonly id: string;
      readonly event: HeardEvent;
      readonly wantsDeltas: boolean;
    }
  /** The connector no longer waits for that ask; `cancel` ends its turn. */
  | { readonly type: 'ask.left'; readonly askId: string; readonly cancel: boolean }
  | { readonly type: 'log'; readonly line: LogLine }
  | { readonly type: 'pong'; readonly n: number }
  /** The last message: the connector accepts nothing more, and every event was answered. */
  | { readonly type: 'drained' }
  /** Sent by the channel itself. */
  | { readonly type: 'dropped'; readonly counts: DroppedCounts };

const traceId: Check<string> = (value) => {
  if (!isTraceId(value)) throw new Misfit('is not 32 lowercase hexadecimal digits');
  return value;
};

const spanId: Check<string> = (value) => {
  if (!isSpanId(value)) throw new Misfit('is not 16 lowercase hexadecimal digits');
  return value;
};

export const heardEvent: Check<HeardEvent> = object({
  name,
  input: optional(text),
  properties: optional(jsonObject),
  auth: optional(jsonObject),
  metadata: optional(jsonObject),
  createdAt: date,
  traceId: optional(traceId),
  parentSpanId: optional(spanId),
  isSampled: optional(flag),
} satisfies FieldsOf<HeardEvent>);

export const checkFromConnector: Check<FromConnector> = oneByField<'type', FromConnector>('type', {
  ready: () => object({ type: literal('ready') }),
  failed: () => object({ type: literal('failed'), error: frameError }),
  'connector.event': () => object({ type: literal('connector.event'), id: name, event: heardEvent }),
  'connector.ask': () =>
    object({ type: literal('connector.ask'), askId: name, id: name, event: heardEvent, wantsDeltas: flag }),
  'ask.left': () => object({ type: literal('ask.left'), askId: name, cancel: flag }),
  log: () => object({ type: literal('log'), line: logLine }),
  pong: () => object({ type: literal('pong'), n: count }),
  drained: () => object({ type: literal('drained') }),
  dropped: () => object({ type: literal('dropped'), counts: droppedCounts }),
});
