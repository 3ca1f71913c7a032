/** Calls between agents: the broker of `calls/`, fed with frames, and its actions done. It decides nothing itself. */
import type { AgentAddress, AgentEvent, TurnResult } from '@goondan/types';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel } from '../../ports/log-line.ts';
import { CallBroker } from '../calls/call-broker.ts';
import type { CallAction, CallFrame } from '../calls/call.ts';
import type { CallRules } from '../calls/check-call.ts';
import type { Instances } from '../instances/instances.ts';
import { NamedTimers } from '../named-timers.ts';

export interface AgentCallsHost {
  readonly clock: Clock;
  /** Resolves when it is durable. */
  accept(to: AgentAddress, event: AgentEvent, isAwaited: boolean): Promise<unknown>;
  /** Durably; the turn that runs is told at once. Must not throw. */
  cancel(at: AgentAddress, eventId: string, reason: string): void;
  report(level: LogLevel, event: string, message: string): void;
  /** Who waits for whom may not be the same any more. */
  changed(): void;
}

export class AgentCalls {
  readonly #broker: CallBroker;
  readonly #instances: Instances;
  readonly #host: AgentCallsHost;
  readonly #timers: NamedTimers<string>;

  constructor(rules: () => CallRules, instances: Instances, host: AgentCallsHost) {
    this.#broker = new CallBroker(rules);
    this.#instances = instances;
    this.#host = host;
    this.#timers = new NamedTimers(host.clock, (eventId) => this.#perform(this.#broker.expire(eventId)));
  }

  isWaiting(address: AgentAddress): boolean {
    return this.#broker.isWaiting(address);
  }

  isAwaited(address: AgentAddress): boolean {
    return this.#broker.isAwaited(address);
  }

  callersOf(address: AgentAddress): readonly AgentAddress[] {
    return this.#broker.callersOf(address);
  }

  /** Requests to these do not run out of time; all others do. */
  hold(held: ReadonlySet<string>): void {
    this.#retime(this.#broker.hold(held, this.#host.clock.elapsed()));
  }

  /** A frame from the process of `caller`. */
  call(caller: AgentAddress, during: AgentEvent | undefined, frame: CallFrame): void {
    const { clock } = this.#host;
    this.#perform(this.#broker.call(caller, during, frame, { date: clock.now(), now: clock.elapsed() }));
  }

  cancelled(caller: AgentAddress, callId: string): void {
    this.#perform(this.#broker.cancelled(caller, callId));
  }

  turnFinished(address: AgentAddress, event: AgentEvent, result: TurnResult): void {
    this.#perform(this.#broker.turnFinished(address, event, result));
  }

  /** An answer from before its process was started. */
  replied(address: AgentAddress, eventId: string, result: TurnResult): void {
    this.#perform(this.#broker.replied(address, eventId, result));
  }

  failed(address: AgentAddress, error: FrameError): void {
    this.#perform(this.#broker.failCallee(address, error));
  }

  processGone(address: AgentAddress): void {
    this.#retime(this.#broker.processGone(address, this.#host.clock.elapsed()));
  }

  processStarting(address: AgentAddress, isStarting: boolean): void {
    this.#retime(this.#broker.processStarting(address, isStarting, this.#host.clock.elapsed()));
  }

  turnStarted(address: AgentAddress, eventId: string): void {
    this.#retime(this.#broker.turnStarted(address, eventId, this.#host.clock.elapsed()));
  }

  close(): void {
    this.#timers.clearAll();
  }

  /** Only timers: who waits for whom is as before. */
  #retime(actions: readonly CallAction[]): void {
    for (const action of actions) this.#performOne(action);
  }

  #perform(actions: readonly CallAction[]): void {
    for (const action of actions) this.#performOne(action);
    this.#host.changed();
    // Who waits for whom has changed: somebody may start beyond the limit, or go.
    this.#instances.replan();
  }

  #performOne(action: CallAction): void {
    switch (action.type) {
      case 'event.deliver':
        return void this.#deliver(action.to, action.event);
      case 'call.end': {
        const { caller, callId, outcome } = action;
        return this.#instances.find(caller)?.say({ type: 'call.ended', callId, outcome: toldToCaller(outcome) });
      }
      case 'turn.cancel': {
        const { at, eventId, reason } = action;
        return this.#host.cancel(at, eventId, reason);
      }
      case 'timer.set':
        return this.#timers.set(action.timer, action.at);
      case 'timer.clear':
        return this.#timers.clear(action.timer);
      case 'report':
        return this.#host.report(action.level, action.event, action.message);
    }
  }

  async #deliver(to: AgentAddress, event: AgentEvent): Promise<void> {
    try {
      await this.#host.accept(to, event, event.replyTo !== undefined);
    } catch (error) {
      return this.#perform(this.#broker.refused(event.id, toFrameError(error, 'E_STORE_WRITE')));
    }
    this.#perform(this.#broker.delivered(to, event));
    // The caller asks again, after a restart of the orchestrator: the callee may be further than the caller.
    if (this.#instances.find(to)?.running?.id === event.id) this.turnStarted(to, event.id);
  }
}

/** The caller's model may be shown all of it. */
function toldToCaller(outcome: CallOutcome): CallOutcome {
  if (outcome.status === 'failed') return { ...outcome, error: withoutPlace(outcome.error) };
  if (outcome.status !== 'answered' || outcome.result.error === undefined) return outcome;
  return { ...outcome, result: { ...outcome.result, error: withoutPlace(outcome.result.error) } };
}
