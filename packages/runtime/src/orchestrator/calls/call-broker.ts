/**
 * Handles requests and sends between agents. The broker only decides and keeps state. It returns actions, and its
 * caller carries them out: deliveries, timers and notifications.
 *
 * Invariants:
 * 1. The channel identifies the caller: `source`, `auth`, `traceId` and the call chain come from it, never from a
 *    frame.
 * 2. Each call frame gets exactly one `call.end`, and one more if it said `usageFollows`, unless the process that sent the
 *    frame exits before. A request ends exactly once, in a reply, an error or a timeout, and only the instance it was sent
 *    to can answer it.
 * 3. Instances never wait for each other in a cycle. A request that would close a cycle is rejected at once, with
 *    `E_AGENT_CYCLE` if the cycle is in its own call chain, and with `E_AGENT_DEADLOCK` if it runs through the queues
 *    of other instances.
 * 4. If a caller crashes and makes the same call again, the second call joins the open call or gets its outcome, and
 *    the deadline stays the same. So a crash of the caller does not end the request. The request stays open until its
 *    deadline, or until the calling turn ends.
 * 5. When a request is given up (timeout, cancel, end of the turn), it ends at once, and the callee is cancelled. If the
 *    callee's turn has begun, its tokens follow when it ends, or nothing after `lateUsageMs`. They do not follow a request
 *    whose own turn is over. A late answer is reported and dropped.
 * 6. Open calls, frames per call and remembered outcomes are bounded (`defaultCallLimits`).
 * 7. The deadline of a request is paused while its callee waits for people, directly or through other agents (`hold`).
 * 8. A request has one time limit at a time. A timeout that counts from the call is its only one. For other requests, the
 *    limit is `queueTimeoutMs` of the callee until the callee's turn begins. The start of the callee's process does not
 *    count, because a start has its own limit (`startTimeoutMs`). After the turn has begun, the limit is the request's own
 *    timeout, or else `turnTimeoutMs` of the callee. If the callee crashes, the request's own timeout keeps running, while
 *    `turnTimeoutMs` starts again with the turn.
 */
import type { AgentAddress, AgentEvent, TokenUsage, TurnResult } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { describeLate } from '../../ipc/request-timeout.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { addressKey, isSameAddress } from '../address/address-key.ts';
import type { CallAction, CallFrame } from './call.ts';
import { type CallRules, checkCall } from './check-call.ts';
import { FinishedCalls } from './finished-calls.ts';
import { describeCircle } from './format-callers.ts';
import { boundsOf, type OpenCall, OpenCalls } from './open-calls.ts';
import { stampEvent, stampId } from './stamp-event.ts';
import { findCircle } from './wait-graph.ts';

type FailedCall = NonNullable<OpenCall['endedAs']>;

/** The most requests of callers that have left this node to remember; most are delivered before the caller leaves. */
const MOST_MOVED = 1_000;

export class CallBroker {
  readonly #rules: () => CallRules;
  readonly #open = new OpenCalls();
  /** Requests that were given up, whose callees' tokens are still to come. */
  readonly #late = new OpenCalls();
  /** The ids of requests whose callers have left this node. */
  readonly #moved = new Set<string>();
  readonly #finished: FinishedCalls;
  /** The keys of instances that wait for people. */
  #held: ReadonlySet<string> = new Set();
  /** The keys of instances whose process is starting. */
  readonly #starting = new Set<string>();

  /** `rules` is called for every call, because the rules may change. */
  constructor(rules: () => CallRules) {
    this.#rules = rules;
    this.#finished = new FinishedCalls(rules().limits.finishedCalls);
  }

  /**
   * Handles a frame from the process of the instance `caller`, which runs the turn of the event `during`. `now`: the
   * time on the monotonic clock.
   */
  call(
    caller: AgentAddress,
    during: AgentEvent | undefined,
    frame: CallFrame,
    moment: { readonly date: Date; readonly now: number },
  ): CallAction[] {
    if (this.#open.findFrame(caller, frame.callId) !== undefined) {
      return [report('warn', 'call.ignored', `${caller.agentName} uses the callId ${frame.callId} twice.`)];
    }
    const end = (outcome: CallOutcome) => [endOf(caller, frame.callId, outcome)];
    if (during === undefined)
      return end(failed('E_AGENT_REQUEST', 'A call to another agent was made outside of a turn.'));

    const id = stampId(caller, frame);
    const late = this.#late.get(id);
    if (late?.endedAs !== undefined) {
      return [...end({ ...late.endedAs, usageFollows: true }), ...this.#join(late, frame.callId)];
    }
    const known = this.#finished.get(id);
    if (known !== undefined) return end(known);
    const open = this.#open.get(id);
    if (open !== undefined) return this.#join(open, frame.callId);

    const refusal =
      checkCall(this.#rules(), caller, during, frame) ?? this.#checkCircle(caller, frame) ?? this.#checkRoom(caller);
    if (refusal !== undefined) return end({ status: 'failed', error: refusal });
    return this.#begin(caller, stampEvent(caller, during, frame, moment.date), frame, moment.now);
  }

  /** Called when the callee has accepted the event of a call, now or in an earlier delivery. */
  delivered(to: AgentAddress, event: AgentEvent): CallAction[] {
    const call = this.#open.get(event.id);
    if (call?.kind === 'send') return this.#close(call, { status: 'accepted' });
    if (call !== undefined || event.replyTo === undefined || this.#moved.delete(event.id)) return [];
    // The caller gave up while the event was being written, when the callee could not be cancelled yet (invariant 5).
    return [{ type: 'turn.cancel', at: to, eventId: event.id, reason: 'nobody waits for the answer any more' }];
  }

  /** Called when the event of a call was rejected, with `E_INBOX_FULL` or a disk error. */
  refused(eventId: string, error: FrameError): CallAction[] {
    const call = this.#open.get(eventId);
    return call === undefined ? [] : this.#close(call, { status: 'failed', error });
  }

  /** Handles the end of a turn at `address`: ends the turn's open requests, and answers its caller. */
  turnFinished(address: AgentAddress, event: AgentEvent, result: TurnResult, usage?: TokenUsage): CallAction[] {
    const reason = 'the turn that asked is over';
    const givenUp = this.#open.requestsOf(address).flatMap((call) => this.#end(call, cancelled(reason), reason));
    const late = this.#late.ofCaller(address).map((call) => this.#forgetLate(call));
    this.#finished.forget(address);
    return [...givenUp, ...late, ...this.#answer(address, event, result, usage)];
  }

  /**
   * Handles an answer that an earlier process of `address` committed. A caller that waits gets the answer. If no caller
   * waits, the answer is dropped.
   */
  replied(address: AgentAddress, eventId: string, result: TurnResult, usage?: TokenUsage): CallAction[] {
    const call = this.#open.get(eventId);
    if (call?.kind !== 'request') return this.#tellUsage(address, eventId, usage);
    return isSameAddress(call.callee, address) ? this.#close(call, outcomeOf(call, result, usage)) : [];
  }

  /** Called when the caller's process no longer waits for the outcome of this frame. */
  cancelled(caller: AgentAddress, callId: string, now: number): CallAction[] {
    const call = this.#open.findFrame(caller, callId);
    if (call === undefined) return [];
    const reason = 'the caller cancelled';
    if (call.kind === 'request' && call.callIds.size === 1) return this.#giveUp(call, cancelled(reason), reason, now);
    call.callIds.delete(callId);
    return [endOf(caller, callId, cancelled(reason))];
  }

  /** Handles the exit of an instance's process, which ends its frames. Its turn starts again in the next process. */
  processGone(address: AgentAddress, now: number): CallAction[] {
    for (const { callIds } of [...this.#open.ofCaller(address), ...this.#late.ofCaller(address)]) callIds.clear();
    return this.#open
      .requestsTo(address)
      .filter(({ waitsFor, bounds }) => waitsFor === 'answer' && bounds.answer.field === 'turnTimeoutMs')
      .flatMap((call) => this.#waitFor(call, 'turn', now));
  }

  /** Called when a process of `address` begins to start (`isStarting` is true), and again when the start has ended. */
  processStarting(address: AgentAddress, isStarting: boolean, now: number): CallAction[] {
    if (isStarting) this.#starting.add(addressKey(address));
    else this.#starting.delete(addressKey(address));
    return this.#open.requestsTo(address).flatMap((call) => this.#letRun(call, now));
  }

  /** Called when the turn of this event has begun at `address`, or continues after a crash. */
  turnStarted(address: AgentAddress, eventId: string, now: number): CallAction[] {
    const call = this.#open.get(eventId);
    if (call?.kind !== 'request' || !isSameAddress(call.callee, address)) return [];
    call.hasBegun = true;
    return call.waitsFor === 'answer' ? [] : this.#waitFor(call, 'answer', now);
  }

  /** Gives up a request whose timer fired, or stops waiting for the tokens of one that was given up before. */
  expire(eventId: string, now: number): CallAction[] {
    const late = this.#late.get(eventId);
    if (late !== undefined) return this.#tellUsage(late.callee, eventId, undefined);
    const call = this.#open.get(eventId);
    if (call?.kind !== 'request') return [];
    const { callee, waitsFor, bounds } = call;
    const problem = describeLate(bounds[waitsFor]);
    return this.#giveUp(call, failed('E_AGENT_TIMEOUT', `Agent "${callee.agentName}" ${problem}.`), problem, now);
  }

  /** Ends the requests to an instance that cannot start; their callers get the error. */
  failCallee(address: AgentAddress, error: FrameError): CallAction[] {
    const outcome = calleeFailed(address, error);
    return this.#open.requestsTo(address).flatMap((call) => this.#end(call, outcome, 'the agent could not start'));
  }

  /** Sets the instances that wait for people (invariant 7). */
  hold(held: ReadonlySet<string>, now: number): CallAction[] {
    this.#held = held;
    return this.#open.requests().flatMap((call) => this.#letRun(call, now));
  }

  /**
   * Forgets the calls of an instance that belongs to another node now. Their callees are not cancelled: the resumed turn
   * repeats its calls there, and joins them.
   */
  moved(address: AgentAddress): CallAction[] {
    this.#finished.forget(address);
    const late = this.#late.ofCaller(address).map((call) => this.#forgetLate(call));
    const open = this.#open.ofCaller(address).map((call): CallAction => {
      this.#open.delete(call);
      this.#rememberMoved(call.id);
      return { type: 'timer.clear', timer: call.id };
    });
    return [...late, ...open];
  }

  /** The caller goes on at another node, where it waits for the same answer, so a late delivery is not cancelled. */
  #rememberMoved(eventId: string): void {
    this.#moved.add(eventId);
    const [oldest] = this.#moved;
    if (this.#moved.size > MOST_MOVED && oldest !== undefined) this.#moved.delete(oldest);
  }

  /** Returns the call of this event, while it is open or its tokens are still to come. */
  find(eventId: string): Pick<OpenCall, 'kind' | 'caller' | 'callee'> | undefined {
    return this.#open.get(eventId) ?? this.#late.get(eventId);
  }

  /** Lists the open requests to this instance. */
  requestsTo(address: AgentAddress): readonly Pick<OpenCall, 'id'>[] {
    return this.#open.requestsTo(address);
  }

  /** Lists the instances that wait for an answer of this instance. */
  callersOf(address: AgentAddress): readonly AgentAddress[] {
    return this.#open.requestsTo(address).map(({ caller }) => caller);
  }

  /** Returns true if the turn of this instance waits for an answer. */
  isWaiting(address: AgentAddress): boolean {
    return this.#open.requestsOf(address).length > 0;
  }

  /** Returns true if another instance waits for an answer of this instance. */
  isAwaited(address: AgentAddress): boolean {
    return this.#open.requestsTo(address).length > 0;
  }

  get openCalls(): number {
    return this.#open.size;
  }

  get finishedCalls(): number {
    return this.#finished.size;
  }

  #join(call: OpenCall, callId: string): CallAction[] {
    if (call.callIds.size >= this.#rules().limits.waitersPerCall) {
      return [
        endOf(
          call.caller,
          callId,
          failed('E_CALLS_FULL', `${call.callIds.size} frames are already waiting for this call.`),
        ),
      ];
    }
    call.callIds.add(callId);
    return [];
  }

  /** Finds a cycle that the call chain does not show (invariant 3). */
  #checkCircle(caller: AgentAddress, { kind, to }: CallFrame): FrameError | undefined {
    if (kind === 'send') return undefined;
    const awaited = (address: AgentAddress) => this.#open.requestsOf(address).map(({ callee }) => callee);
    const circle = findCircle(awaited, caller, to);
    if (circle === undefined) return undefined;
    return { code: 'E_AGENT_DEADLOCK', message: describeCircle(circle) };
  }

  #checkRoom(caller: AgentAddress): FrameError | undefined {
    const own = this.#open.ofCaller(caller).length;
    if (own >= this.#rules().limits.openCallsPerCaller) {
      return { code: 'E_CALLS_FULL', message: `${own} calls of agent "${caller.agentName}" are under way already.` };
    }
    if (this.#open.size < this.#rules().limits.openCalls) return undefined;
    return { code: 'E_CALLS_FULL', message: `${this.#open.size} calls between agents are under way already.` };
  }

  #begin(caller: AgentAddress, event: AgentEvent, frame: CallFrame, now: number): CallAction[] {
    const { kind, to: callee, callId } = frame;
    const bounds = boundsOf(frame, this.#rules().timesOf(callee.agentName));
    const callIds = new Set([callId]);
    const progress = { waitsFor: bounds.answer.from === 'call' ? 'answer' : 'turn', hasBegun: false } as const;
    const deadline = { leftMs: bounds[progress.waitsFor].ms };
    const call: OpenCall = { kind, id: event.id, caller, callee, ...progress, bounds, deadline, callIds };
    this.#open.add(call);
    const deliver: CallAction = { type: 'event.deliver', to: callee, event };
    return kind === 'send' ? [deliver] : [...this.#letRun(call, now), deliver];
  }

  /** Starts the next time limit of a request (invariant 8). */
  #waitFor(call: OpenCall, waitsFor: OpenCall['waitsFor'], now: number): CallAction[] {
    call.waitsFor = waitsFor;
    call.deadline = { leftMs: call.bounds[waitsFor].ms };
    return [{ type: 'timer.clear', timer: call.id }, ...this.#letRun(call, now)];
  }

  /** Starts or pauses the timer of a request, depending on its callee (invariants 7 and 8). */
  #letRun(call: OpenCall, now: number): CallAction[] {
    const { id, callee, waitsFor, deadline } = call;
    const key = addressKey(callee);
    const standsStill = this.#held.has(key) || (waitsFor === 'turn' && this.#starting.has(key));
    if (standsStill && 'at' in deadline) {
      call.deadline = { leftMs: Math.max(0, deadline.at - now) };
      return [{ type: 'timer.clear', timer: id }];
    }
    if (standsStill || 'at' in deadline) return [];
    const at = now + deadline.leftMs;
    call.deadline = { at };
    return [{ type: 'timer.set', timer: id, at }];
  }

  #answer(address: AgentAddress, event: AgentEvent, result: TurnResult, usage?: TokenUsage): CallAction[] {
    const call = this.#open.get(event.id);
    if (call?.kind === 'request' && isSameAddress(call.callee, address)) {
      return this.#close(call, outcomeOf(call, result, usage));
    }
    const told = this.#tellUsage(address, event.id, usage);
    if (event.source.kind !== 'agent' || event.replyTo === undefined) return told;
    const message = `A reply of agent "${address.agentName}" to ${event.source.name} came when nobody waited for it any more.`;
    return [...told, report('info', 'reply.late', message)];
  }

  /** Ends a call at once, and cancels its callee, whose tokens may follow (invariant 5). */
  #giveUp(call: OpenCall, outcome: FailedCall, reason: string, now: number): CallAction[] {
    const { lateUsageMs, lateUsages } = this.#rules().limits;
    if (!call.hasBegun || this.#late.size >= lateUsages) return this.#end(call, outcome, reason);
    call.endedAs = outcome;
    this.#late.add(call);
    const ended = this.#end(call, { ...outcome, usageFollows: true }, reason);
    return [...ended, { type: 'timer.set', timer: call.id, at: now + lateUsageMs }];
  }

  /** Sends the tokens of a request that was given up. Without `usage`, they are not known. */
  #tellUsage(callee: AgentAddress, eventId: string, usage: TokenUsage | undefined): CallAction[] {
    const call = this.#late.get(eventId);
    if (call?.endedAs === undefined || !isSameAddress(call.callee, callee)) return [];
    const outcome = usage === undefined ? call.endedAs : { ...call.endedAs, usage };
    this.#finished.add(eventId, call.caller, outcome);
    return [this.#forgetLate(call), ...[...call.callIds].map((callId) => endOf(call.caller, callId, outcome))];
  }

  #forgetLate(call: OpenCall): CallAction {
    this.#late.delete(call);
    return { type: 'timer.clear', timer: call.id };
  }

  /** Ends a call at once, and cancels its callee. */
  #end(call: OpenCall, outcome: CallOutcome, reason: string): CallAction[] {
    return [...this.#close(call, outcome), cancelOf(call, reason)];
  }

  /** The only place that ends a call (invariant 2). */
  #close(call: OpenCall, outcome: CallOutcome): CallAction[] {
    this.#open.delete(call);
    const ends = [...call.callIds].map((callId) => endOf(call.caller, callId, outcome));
    if (call.kind === 'send') return ends;
    this.#finished.add(call.id, call.caller, outcome);
    return [{ type: 'timer.clear', timer: call.id }, ...ends];
  }
}

function cancelOf({ callee, id }: OpenCall, reason: string): CallAction {
  return { type: 'turn.cancel', at: callee, eventId: id, reason };
}

/** Returns the outcome of a call whose callee has ended. */
function outcomeOf({ callee }: OpenCall, result: TurnResult, usage: TokenUsage | undefined): CallOutcome {
  const used = usage === undefined ? {} : { usage };
  if (result.finishReason !== 'error') return { status: 'answered', result, ...used };
  return { ...calleeFailed(callee, result.error ?? { message: 'no reason given' }), ...used };
}

function calleeFailed({ agentName }: AgentAddress, { code, message }: { code?: string; message: string }): FailedCall {
  const reason = `${code === undefined ? '' : ` (${code})`}: ${message}`;
  return failed('E_AGENT_FAILED', `Agent "${agentName}" failed${reason}`);
}

function cancelled(reason: string): FailedCall {
  return failed('E_CANCELLED', `The request was given up: ${reason}.`);
}

function failed(code: FrameError['code'], message: string): FailedCall {
  return { status: 'failed', error: { code, message } };
}

function endOf(caller: AgentAddress, callId: string, outcome: CallOutcome): CallAction {
  return { type: 'call.end', caller, callId, outcome };
}

function report(level: 'info' | 'warn', event: 'reply.late' | 'call.ignored', message: string): CallAction {
  return { type: 'report', level, event, message };
}
