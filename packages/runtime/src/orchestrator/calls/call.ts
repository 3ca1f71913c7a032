/** What comes into the broker from a caller, what it wants done, and its bounds. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';

/** What a process says it wants. Of its event only id, input, metadata and the parent span are believed. */
export type CallFrame = Extract<FromAgent, { readonly type: 'call' }>;

export type CallAction =
  /** Accept it durably, then tell the broker: `delivered` or `refused`. */
  | { readonly type: 'event.deliver'; readonly to: AgentAddress; readonly event: AgentEvent }
  /** The one end of that call, to the process of its caller. */
  | { readonly type: 'call.end'; readonly caller: AgentAddress; readonly callId: string; readonly outcome: CallOutcome }
  /** Nobody waits for that event any more: its turn is cancelled, or never begins. */
  | { readonly type: 'turn.cancel'; readonly at: AgentAddress; readonly eventId: string; readonly reason: string }
  /** `timer` is the event's id: give it back to `expire` when it rings. */
  | { readonly type: 'timer.set'; readonly timer: string; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: string }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn';
      readonly event: 'reply.late' | 'call.ignored';
      readonly message: string;
    };

export interface CallLimits {
  /** Requests around a request. */
  readonly depth: number;
  /** Requests and sends under way, of all instances and of one; more end with `E_CALLS_FULL`. */
  readonly openCalls: number;
  readonly openCallsPerCaller: number;
  /** Frames that may wait for one and the same call. */
  readonly waitersPerCall: number;
  /** Ended requests of running turns whose outcome is kept; the oldest is forgotten, and delivered again when asked. */
  readonly finishedCalls: number;
}

export const defaultCallLimits: CallLimits = {
  depth: 16,
  openCalls: 10_000,
  openCallsPerCaller: 256,
  waitersPerCall: 8,
  finishedCalls: 256,
};

/** How long requests to an agent wait: until its turn begins, and for the end of the turn when they do not say. */
export interface CalleeTimes {
  readonly queueTimeoutMs: number;
  readonly turnTimeoutMs: number;
}

export interface CallMoment {
  readonly date: Date;
  /** On the clock that only grows. */
  readonly now: number;
}
