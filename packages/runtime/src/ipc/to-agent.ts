/** Messages from the orchestrator to an agent process. */
import type { ApprovalOutcome } from '@goondan/types';
import { agentCard, agentEvent, agentInstance } from './check/agent-event.ts';
import { frameError } from './check/frame-error.ts';
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
  type OneOf,
  oneOf,
  optional,
  text,
} from './check/shape.ts';
import { turnResult } from './check/turn-result.ts';

const callOutcomes = {
  accepted: () => object({ status: literal('accepted') }),
  answered: () => object({ status: literal('answered'), result: turnResult }),
  failed: () => object({ status: literal('failed'), error: frameError }),
};

/** The outcome of a call to another agent: a `send` is accepted, a `request` is answered, and either can fail. */
export type CallOutcome = OneOf<typeof callOutcomes>;

const callOutcome: Check<CallOutcome> = oneByField<'status', CallOutcome>('status', callOutcomes);

export const approvalOutcomeFields = {
  decision: oneOf('approved', 'denied', 'expired'),
  by: optional(text),
  note: optional(text),
} satisfies FieldsOf<ApprovalOutcome>;

const approvalEnds = {
  answered: () => object({ status: literal('answered'), answer: object({ id: name, ...approvalOutcomeFields }) }),
  failed: () => object({ status: literal('failed'), error: frameError }),
};

/** The outcome of an approval request. `id`: for `approval.taken`. */
export type ApprovalEnd = OneOf<typeof approvalEnds>;

const approvalEnd: Check<ApprovalEnd> = oneByField<'status', ApprovalEnd>('status', approvalEnds);

const toAgent = {
  /** The first message, sent once. `plan` is an `AgentStart`. */
  start: () => object({ type: literal('start'), plan: jsonObject }),
  /**
   * Runs a turn. The next one is sent after the `turn.done` of this one. `seq`: the number of the event in the inbox.
   */
  turn: () =>
    object({
      type: literal('turn'),
      event: agentEvent,
      seq: count,
      /**
       * True if the event crashed its process too often: its input is added to the conversation, and nothing else runs.
       */
      deadLetter: optional(flag),
      /** True if the store ended the event's last turn, which does not count as a crash of the event. */
      isExcused: optional(flag),
    }),
  cancel: () => object({ type: literal('cancel'), eventId: name, reason: text }),
  'call.ended': () => object({ type: literal('call.ended'), callId: name, outcome: callOutcome }),
  /** The answer to this event was delivered, so the process need not keep it any more. */
  'reply.taken': () => object({ type: literal('reply.taken'), eventId: name }),
  'agents.listed': () => object({ type: literal('agents.listed'), callId: name, instances: listOf(agentInstance) }),
  /**
   * Pauses the deadlines of a turn while an agent that it called waits for people. If `isHeld` is false, they run
   * again.
   */
  'turn.held': () => object({ type: literal('turn.held'), eventId: name, isHeld: flag }),
  'approval.ended': () => object({ type: literal('approval.ended'), callId: name, outcome: approvalEnd }),
  /** The agents of the swarm from now on. */
  'agents.changed': () => object({ type: literal('agents.changed'), agents: listOf(agentCard) }),
  ping: () => object({ type: literal('ping'), n: count }),
  /**
   * Finish the running turn, clean up within `cleanUpMs` (the rest of the grace when absent), and send `drained`, all
   * within `graceMs`.
   */
  drain: () => object({ type: literal('drain'), graceMs: count, cleanUpMs: optional(count) }),
};

export type ToAgent = OneOf<typeof toAgent>;

export const checkToAgent: Check<ToAgent> = oneByField<'type', ToAgent>('type', toAgent);
