/** Messages of the orchestrator to an agent process. */
import type { AgentCard, AgentEvent, AgentInstance, ApprovalOutcome, JsonObject, TurnResult } from '@goondan/types';
import { agentCard, agentEvent, agentInstance } from './check/agent-event.ts';
import { type FrameError, frameError } from './check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  literal,
  name,
  object,
  oneByField,
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { turnResult } from './check/turn-result.ts';

/** The outcome of a call to another agent: a `send` is accepted, a `request` is answered, either can fail. */
export type CallOutcome =
  | { readonly status: 'accepted' }
  | { readonly status: 'answered'; readonly result: TurnResult }
  | { readonly status: 'failed'; readonly error: FrameError };

/** The outcome of an approval request. `id` is for `approval.taken`. */
export type ApprovalEnd =
  | { readonly status: 'answered'; readonly answer: ApprovalOutcome & { readonly id: string } }
  | { readonly status: 'failed'; readonly error: FrameError };

export type ToAgent =
  /** The first message, once: an `AgentStart`. */
  | { readonly type: 'start'; readonly plan: JsonObject }
  /** One at a time: the next comes after the `turn.done` of this one. `seq` is the number of the event in the inbox. */
  | {
      readonly type: 'turn';
      readonly event: AgentEvent;
      readonly seq: number;
      /** True when the event crashed its process too often: fold it, run nothing of it. */
      readonly deadLetter?: boolean;
      /** The store ended its last turn: that does not count as a crash of this event. */
      readonly isExcused?: boolean;
    }
  | { readonly type: 'cancel'; readonly eventId: string; readonly reason: string }
  | { readonly type: 'call.ended'; readonly callId: string; readonly outcome: CallOutcome }
  /** The answer to that event was delivered: the process need not keep it any more. */
  | { readonly type: 'reply.taken'; readonly eventId: string }
  | { readonly type: 'agents.listed'; readonly callId: string; readonly instances: readonly AgentInstance[] }
  | { readonly type: 'approval.ended'; readonly callId: string; readonly outcome: ApprovalEnd }
  /**
   * Pauses the deadlines of a turn while an agent that it asked waits for people; with `isHeld` false they run again.
   */
  | { readonly type: 'turn.held'; readonly eventId: string; readonly isHeld: boolean }
  /** The agents of the swarm from now on. */
  | { readonly type: 'agents.changed'; readonly agents: readonly AgentCard[] }
  | { readonly type: 'ping'; readonly n: number }
  /**
   * Finish the running turn, clean up within `cleanUpMs` (the rest of the grace when absent), send `drained`, all
   * within `graceMs`.
   */
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number };

const callOutcome: Check<CallOutcome> = oneByField<'status', CallOutcome>('status', {
  accepted: () => object({ status: literal('accepted') }),
  answered: () => object({ status: literal('answered'), result: turnResult }),
  failed: () => object({ status: literal('failed'), error: frameError }),
});

const approvalAnswer = object({
  id: name,
  decision: oneOf('approved', 'denied', 'expired'),
  by: optional(text),
  note: optional(text),
} satisfies FieldsOf<ApprovalOutcome & { readonly id: string }>);

const approvalEnd: Check<ApprovalEnd> = oneByField<'status', ApprovalEnd>('status', {
  answered: () => object({ status: literal('answered'), answer: approvalAnswer }),
  failed: () => object({ status: literal('failed'), error: frameError }),
});

export const checkToAgent: Check<ToAgent> = oneByField<'type', ToAgent>('type', {
  start: () => object({ type: literal('start'), plan: jsonObject }),
  turn: () =>
    object({
      type: literal('turn'),
      event: agentEvent,
      seq: count,
      deadLetter: optional(flag),
      isExcused: optional(flag),
    }),
  cancel: () => object({ type: literal('cancel'), eventId: name, reason: text }),
  'call.ended': () => object({ type: literal('call.ended'), callId: name, outcome: callOutcome }),
  'reply.taken': () => object({ type: literal('reply.taken'), eventId: name }),
  'agents.listed': () => object({ type: literal('agents.listed'), callId: name, instances: listOf(agentInstance) }),
  'turn.held': () => object({ type: literal('turn.held'), eventId: name, isHeld: flag }),
  'approval.ended': () => object({ type: literal('approval.ended'), callId: name, outcome: approvalEnd }),
  'agents.changed': () => object({ type: literal('agents.changed'), agents: listOf(agentCard) }),
  ping: () => object({ type: literal('ping'), n: count }),
  drain: () => object({ type: literal('drain'), graceMs: count, cleanUpMs: optional(count) }),
});
