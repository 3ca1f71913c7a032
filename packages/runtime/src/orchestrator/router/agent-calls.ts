/**
 * Connects the broker of `calls/` to the swarm: passes frames to it and carries out its actions. The broker makes all
 * decisions.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RemoteCalls } from '../../store/cluster-store.ts';
import type { CallBroker } from '../calls/call-broker.ts';
import type { CallAction } from '../calls/call.ts';
import type { Instances } from '../instances/instances.ts';
import type { AgentFrame, FinishedTurn, Report, SwarmListener } from '../instances/swarm-listener.ts';
import { NamedTimers } from '../supervision/named-timers.ts';
import type { Mailboxes } from './mailboxes.ts';
import { RemoteRequests } from './remote-requests.ts';

export interface AgentCallsDeps {
  readonly clock: Clock;
  readonly broker: CallBroker;
  readonly instances: Instances;
  readonly mailboxes: Pick<Mailboxes, 'accept' | 'cancel'>;
  /** Requests to other nodes; absent on a swarm with one node. */
  readonly remote?: { readonly calls: RemoteCalls; isAnybodyAsking(): boolean };
  readonly events: Pick<Required<SwarmListener>, 'waitsChanged'>;
  readonly report: Report;
}

export class AgentCalls implements SwarmListener {
  readonly #broker: CallBroker;
  readonly #timers: NamedTimers<string>;
  readonly #remote: RemoteRequests | undefined;

  constructor(private readonly deps: AgentCallsDeps) {
    this.#broker = deps.broker;
    this.#remote =
      deps.remote &&
      new RemoteRequests({
        ...deps,
        ...deps.remote,
        perform: (actions) => this.#perform(actions),
        heldChanged: () => deps.events.waitsChanged(),
      });
    this.#timers = new NamedTimers(deps.clock, (eventId) =>
      this.#perform(this.#broker.expire(eventId, deps.clock.elapsed())),
    );
  }

  /** Sets the instances to which requests do not time out. */
  hold(held: ReadonlySet<string>): void {
    this.#retime(this.#broker.hold(held, this.deps.clock.elapsed()));
  }

  /** Instances of other nodes that wait for people, and for which instances of this node wait. */
  get heldElsewhere(): readonly AgentAddress[] {
    return this.#remote?.held ?? [];
  }

  /** Called when an accepted event waits at another node. */
  acceptedElsewhere(to: AgentAddress, event: AgentEvent): void {
    this.#remote?.watch(to, event);
  }

  /** Called when an instance has left this node: its own calls are forgotten, and calls to it are answered from elsewhere. */
  moved(at: AgentAddress): void {
    this.#perform(this.#broker.moved(at));
    this.#remote?.watchOthers(at);
  }

  /** Called when the input of an own instance was read. Another node answered the requests to it that are not there. */
  inputRead(at: AgentAddress): void {
    const queue = this.deps.instances.find(at)?.state.queue ?? [];
    this.#remote?.watchOthers(at, new Set(queue.map(({ event }) => event.id)));
  }

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    const { clock, instances } = this.deps;
    if (frame.type === 'call') {
      this.#perform(this.#broker.call(at, during, frame, { date: clock.now(), now: clock.elapsed() }));
    }
    if (frame.type === 'call.cancelled') this.#perform(this.#broker.cancelled(at, frame.callId, clock.elapsed()));
    if (frame.type === 'reply') {
      // This frame carries an answer that an earlier process committed.
      this.#perform(this.#broker.replied(at, frame.eventId, frame.result, frame.usage));
      if (this.#remote === undefined) instances.find(at)?.say({ type: 'reply.taken', eventId: frame.eventId });
    }
  }

  turnFinished(at: AgentAddress, { event, result, usage }: FinishedTurn): void {
    this.#perform(this.#broker.turnFinished(at, event, result, usage));
  }

  requestsFailed(at: AgentAddress, error: FrameError): void {
    this.#perform(this.#broker.failCallee(at, error));
    const queue = this.deps.instances.find(at)?.state.queue ?? [];
    void this.#remote?.calleeFailed(
      at,
      queue.map(({ event }) => event),
      error,
    );
  }

  processGone(at: AgentAddress): void {
    this.#retime(this.#broker.processGone(at, this.deps.clock.elapsed()));
  }

  processStarting(at: AgentAddress, isStarting: boolean): void {
    this.#retime(this.#broker.processStarting(at, isStarting, this.deps.clock.elapsed()));
  }

  turnStarted(at: AgentAddress, { id }: AgentEvent): void {
    this.#retime(this.#broker.turnStarted(at, id, this.deps.clock.elapsed()));
  }

  close(): void {
    this.#remote?.close();
    this.#timers.clearAll();
  }

  /** Carries out timer actions only, because no instance has begun or stopped waiting. */
  #retime(actions: readonly CallAction[]): void {
    for (const action of actions) this.#performOne(action);
  }

  #perform(actions: readonly CallAction[]): void {
    for (const action of actions) this.#performOne(action);
    this.deps.events.waitsChanged();
  }

  #performOne(action: CallAction): void {
    switch (action.type) {
      case 'event.deliver':
        return void this.#deliver(action.to, action.event);
      case 'call.end': {
        const { caller, callId, outcome } = action;
        return this.deps.instances.find(caller)?.say({ type: 'call.ended', callId, outcome: toldToCaller(outcome) });
      }
      case 'turn.cancel': {
        const { at, eventId, reason } = action;
        return void this.deps.mailboxes.cancel(at, eventId, reason);
      }
      case 'timer.set':
        return this.#timers.set(action.timer, action.at);
      case 'timer.clear':
        if (this.#broker.find(action.timer) === undefined) this.#remote?.ended(action.timer);
        return this.#timers.clear(action.timer);
      case 'report':
        return this.deps.report(action.level, action.event, action.message);
    }
  }

  async #deliver(to: AgentAddress, event: AgentEvent): Promise<void> {
    try {
      await this.deps.mailboxes.accept(to, event, event.replyTo !== undefined);
    } catch (error) {
      return this.#perform(this.#broker.refused(event.id, toFrameError(error, 'E_STORE_WRITE')));
    }
    const circle = await this.#remote?.findCircle(event);
    // The event was accepted, so `delivered` cancels it.
    if (circle !== undefined) this.#perform(this.#broker.refused(event.id, circle));
    this.#perform(this.#broker.delivered(to, event));
    // After a restart of the orchestrator the caller repeats its request, when the callee's turn may already be
    // running.
    if (this.deps.instances.find(to)?.running?.id === event.id) this.turnStarted(to, event);
  }
}

/** Removes the source place from the outcome, because the caller's model may see all of it. */
function toldToCaller(outcome: CallOutcome): CallOutcome {
  if (outcome.status === 'failed') return { ...outcome, error: withoutPlace(outcome.error) };
  if (outcome.status !== 'answered' || outcome.result.error === undefined) return outcome;
  return { ...outcome, result: { ...outcome.result, error: withoutPlace(outcome.result.error) } };
}
