/** What a connector's process says to the orchestrator. */
import type { JsonObject } from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import { type FrameError, frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  date,
  type FieldsOf,
  jsonObject,
  literal,
  name,
  object,
  oneByField,
  optional,
  text,
} from './check/shape.ts';
import { type DroppedCounts, droppedCounts, logLine } from './from-agent.ts';

/** Something a connector heard. It has no address yet: the rules of the Connection give it one. */
export interface ConnectorEvent {
  /** One of the events the connector declares. */
  readonly name: string;
  readonly input?: string;
  /** What the rules match and take instance keys from. */
  readonly properties?: JsonObject;
  /** Who is asking, as the connector established it. */
  readonly auth?: JsonObject;
  readonly metadata?: JsonObject;
  readonly createdAt: Date;
}

export type FromConnector =
  | { readonly type: 'ready' }
  | { readonly type: 'start.failed'; readonly error: FrameError }
  /** Answered by `connector.accepted` or `connector.refused`. The same id twice is the same event. */
  | { readonly type: 'connector.event'; readonly id: string; readonly event: ConnectorEvent }
  | { readonly type: 'log'; readonly line: LogLine }
  | { readonly type: 'pong'; readonly n: number }
  | { readonly type: 'drained' }
  /** Sent by the channel itself. */
  | { readonly type: 'dropped'; readonly counts: DroppedCounts };

const connectorEvent: Check<ConnectorEvent> = object({
  name,
  input: optional(text),
  properties: optional(jsonObject),
  auth: optional(jsonObject),
  metadata: optional(jsonObject),
  createdAt: date,
} satisfies FieldsOf<ConnectorEvent>);

export const checkFromConnector: Check<FromConnector> = oneByField<'type', FromConnector>('type', {
  ready: object({ type: literal('ready') }),
  'start.failed': object({ type: literal('start.failed'), error: frameError }),
  'connector.event': object({ type: literal('connector.event'), id: name, event: connectorEvent }),
  log: object({ type: literal('log'), line: logLine }),
  pong: object({ type: literal('pong'), n: count }),
  drained: object({ type: literal('drained') }),
  dropped: object({ type: literal('dropped'), counts: droppedCounts }),
});
