/** What the orchestrator says to a connector's process. */
import type { JsonObject } from '@goondan/types';
import { type FrameError, frameError } from './check/frame-error.ts';
import { type Check, count, jsonObject, literal, name, object, oneByField } from './check/shape.ts';

export type ToConnector =
  | { readonly type: 'start'; readonly plan: JsonObject }
  /** The event with this id is on disk. Never said before. */
  | { readonly type: 'connector.accepted'; readonly id: string }
  | { readonly type: 'connector.refused'; readonly id: string; readonly error: FrameError }
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'drain'; readonly graceMs: number };

export const checkToConnector: Check<ToConnector> = oneByField<'type', ToConnector>('type', {
  start: () => object({ type: literal('start'), plan: jsonObject }),
  'connector.accepted': () => object({ type: literal('connector.accepted'), id: name }),
  'connector.refused': () => object({ type: literal('connector.refused'), id: name, error: frameError }),
  ping: () => object({ type: literal('ping'), n: count }),
  drain: () => object({ type: literal('drain'), graceMs: count }),
});
