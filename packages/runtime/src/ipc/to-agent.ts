/** What the orchestrator says to an agent's process. */
import type { AgentEvent, JsonObject, TurnResult } from '@goondan/types';
import { agentEvent } from './check/agent-event.ts';
import { type FrameError, frameError } from './check/frame-error.ts';
import { type Check, count, jsonObject, literal, name, object, oneByField, text } from './check/shape.ts';
import { turnResult } from './check/turn-result.ts';

/** How a call to another agent ended: a `send` is accepted, a `request` is answered, either can fail. */
export type CallOutcome =
  | { readonly status: 'accepted' }
  | { readonly status: 'answered'; readonly result: TurnResult }
  | { readonly status: 'failed'; readonly error: FrameError };

export type ToAgent =
  /** The first message, once. The plan is resolved: nothing in it is left to look up. */
  | { readonly type: 'start'; readonly plan: JsonObject }
  /** One at a time: the next comes after the `turn.done` of this one. `seq` is the event's place in the inbox. */
  | { readonly type: 'turn'; readonly event: AgentEvent; readonly seq: number }
  | { readonly type: 'cancel'; readonly eventId: string; readonly reason: string }
  | { readonly type: 'call.ended'; readonly callId: string; readonly outcome: CallOutcome }
  | { readonly type: 'ping'; readonly n: number }
  /** Finish the running turn, clean up, say `drained`, all within `graceMs`. */
  | { readonly type: 'drain'; readonly graceMs: number };

const callOutcome: Check<CallOutcome> = oneByField<'status', CallOutcome>('status', {
  accepted: object({ status: literal('accepted') }),
  answered: object({ status: literal('answered'), result: turnResult }),
  failed: object({ status: literal('failed'), error: frameError }),
});

export const checkToAgent: Check<ToAgent> = oneByField<'type', ToAgent>('type', {
  start: object({ type: literal('start'), plan: jsonObject }),
  turn: object({ type: literal('turn'), event: agentEvent, seq: count }),
  cancel: object({ type: literal('cancel'), eventId: name, reason: text }),
  'call.ended': object({ type: literal('call.ended'), callId: name, outcome: callOutcome }),
  ping: object({ type: literal('ping'), n: count }),
  drain: object({ type: literal('drain'), graceMs: count }),
});
