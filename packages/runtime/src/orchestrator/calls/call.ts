/** The frames, actions and limits of the broker. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';

/** The call frame of a process. Only id, input, metadata and the parent span of its event are used. */
export type CallFrame = Extract<FromAgent, { readonly type: 'call' }>;

export type CallAction =
  /** Accept it durably, then call `delivered` or `refused` of the broker. */
  | { readonly type: 'event.deliver'; readonly to: AgentAddress; readonly event: AgentEvent }
  /** The only end of that call, for the process of its caller. */
  | { readonly type: 'call.end'; readonly caller: AgentAddress; readonly callId: string; readonly outcome: CallOutcome }
  /** The caller gave up: the turn of that event is cancelled, or never begins. */
  | { readonly type: 'turn.cancel'; readonly at: AgentAddress; readonly eventId: string; readonly reason: string }
  /** `timer` is the event's id: pass it to `expire` when it fires. */
  | { readonly type: 'timer.set'; readonly timer: string; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: string }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn';
      readonly event: 'reply.late' | 'call.ignored';
      readonly message: string;
    };

export const defaultCallLimits = {
  /** The number of nested requests. */
  depth: 16,
  /** Open requests and sends, in total and per instance; more end with `E_CALLS_FULL`. */
  openCalls: 10_000,
  openCallsPerCaller: 256,
  /** Frames that may wait for the same call. */
  waitersPerCall: 8,
  /**
   * Remembered outcomes of requests of running turns. The oldest is forgotten, and its request is delivered again when
   * asked.
   */
  finishedCalls: 256,
};

export type CallLimits = Readonly<typeof defaultCallLimits>;

/** The default time limits of requests to an agent: until its turn begins, and until the turn ends. */
export interface CalleeTimes {
  readonly queueTimeoutMs: number;
  readonly turnTimeoutMs: number;
}
