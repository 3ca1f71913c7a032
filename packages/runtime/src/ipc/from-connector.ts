/** What a connector's process says to the orchestrator. */
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

/** What a connector heard, as it travels: the id stands beside it, and when it happened is known. */
export interface HeardEvent extends Omit<ConnectorEvent, 'id' | 'createdAt'> {
  readonly createdAt: Date;
}

export type FromConnector =
  /** It listens. */
  | { readonly type: 'ready' }
  /** It cannot start, or cannot go on, and ends. */
  | { readonly type: 'failed'; readonly error: FrameError }
  /** Answered by `connector.accepted` or `connector.refused`. The same id twice is the same event. */
  | { readonly type: 'connector.event'; readonly id: string; readonly event: HeardEvent }
  /**
   * The same, and the end of its turn is to be told: `ask.accepted`, `ask.delta` when it wants them, `ask.ended`. Whoever
   * asks twice for one event has two asks.
   */
  | {
      readonly type: 'connector.ask';
      readonly askId: string;
      readonly id: string;
      readonly event: HeardEvent;
      readonly wantsDeltas: boolean;
    }
  /** Nobody waits for that ask any more; `cancel` ends its turn. */
  | { readonly type: 'ask.left'; readonly askId: string; readonly cancel: boolean }
  | { readonly type: 'log'; readonly line: LogLine }
  | { readonly type: 'pong'; readonly n: number }
  /** The last message: it hears nothing more, and every event was answered. */
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
