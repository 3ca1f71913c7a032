/** The frames, actions and limits of the broker. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';

/** A call frame from an agent process. Only id, input, metadata and the parent span of its event are used. */
export type CallFrame = Extract<FromAgent, { readonly type: 'call' }>;

export type CallAction =
  /** Accept the event durably, then call `delivered` or `refused` of the broker. */
  | { readonly type: 'event.deliver'; readonly to: AgentAddress; readonly event: AgentEvent }
  /** Ends the call: send the outcome to the caller's process. */
  | { readonly type: 'call.end'; readonly caller: AgentAddress; readonly callId: string; readonly outcome: CallOutcome }
  /** The caller gave up: cancel the turn of this event, or prevent it from starting. */
  | { readonly type: 'turn.cancel'; readonly at: AgentAddress; readonly eventId: string; readonly reason: string }
  /** Sets a timer. `timer` is the id of the call's event. Pass the id to `expire` when the timer fires. */
  | { readonly type: 'timer.set'; readonly timer: string; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: string }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn';
      readonly event: 'reply.late' | 'call.ignored';
      readonly message: string;
    };

export const defaultCallLimits = {
  /** The maximum number of nested requests. */
  depth: 16,
  /**
   * The maximum number of open requests and sends, in total and per instance. A further call ends with `E_CALLS_FULL`.
   */
  openCalls: 10_000,
  openCallsPerCaller: 256,
  /** The maximum number of frames that wait for the same call. */
  waitersPerCall: 8,
  /**
   * The maximum number of remembered outcomes for running turns. Above it, the oldest outcome is forgotten. If a turn
   * then repeats the request of a forgotten outcome, the request is delivered again.
   */
  finishedCalls: 256,
  /** The time in which the tokens of a callee may follow after its request was given up. */
  lateUsageMs: 5_000,
  /** The maximum number of given-up requests whose tokens may still follow. Above it, those of a further one do not. */
  lateUsages: 1_000,
};
