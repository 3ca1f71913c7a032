/**
 * The agents of a swarm and the parts between them: delivery, processes, calls, watchers. This file connects the parts;
 * each part makes its own decisions.
 */
import type { AgentAddress, AgentEvent, AgentInstance, JsonValue } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import { type FrameError, fromFrameError } from '../../ipc/check/frame-error.ts';
import type { AgentDescription, DroppedCounts, FromAgent } from '../../ipc/from-agent.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import type { ClusterStore } from '../../store/cluster-store.ts';
import type { NodeStore } from '../../store/store.ts';
import type { InstanceNotice, SwarmNotice } from '../../control/swarm.ts';
import { Questions } from '../questions/questions.ts';
import type { QuestionsDeps } from '../questions/questions-deps.ts';
import { CounterRequests } from '../counters/counter-requests.ts';
import { CallBroker } from '../calls/call-broker.ts';
import { HeldInstances } from '../calls/held-instances.ts';
import { ProcessChanges } from '../changes/process-changes.ts';
import { lineOfOutput } from '../child/child-output.ts';
import { describeSharedEnd } from '../child/describe-shared-end.ts';
import type { Keepers } from '../keepers/keepers.ts';
import { beginNothing, drainInstances } from '../instances/drain-instances.ts';
import { Instances } from '../instances/instances.ts';
import { OwnedInstances } from '../instances/owned-instances.ts';
import {
  type AgentFrame,
  type FinishedTurn,
  type Report,
  type ReportSubject,
  type SwarmListener,
  tellListeners,
} from '../instances/swarm-listener.ts';
import { AgentCalls } from '../router/agent-calls.ts';
import { Mailboxes } from '../router/mailboxes.ts';
import type { SwarmTelemetry } from '../../config/telemetry-settings.ts';
import { callRulesOf, type CurrentPlan } from '../plan/current-plan.ts';
import type { Grace } from '../supervision/drain-process.ts';
import { AnswerLists } from './answer-lists.ts';
import { InstanceMoves } from './instance-moves.ts';
import { InstanceProcesses, type InstanceProcessesDeps } from './instance-processes.ts';
import { wakeInputs } from './wake-inputs.ts';
import { TurnWaiters } from '../watch/turn-waiters.ts';
import { UnreadInboxes } from '../router/unread-inboxes.ts';
import { WokenInstances } from '../router/woken-instances.ts';
import { Watchers } from '../watch/watchers.ts';

export interface SwarmDeps {
  readonly currentPlan: CurrentPlan;
  readonly ids: Ids;
  readonly store: Pick<NodeStore, 'inbox' | 'placement' | 'questions' | 'blobs' | 'counters' | 'directory'>;
  readonly requests: QuestionsDeps['requests'];
  readonly clock: Clock;
  readonly location: InstanceProcessesDeps['location'];
  /** The other nodes of the swarm; absent on files. */
  readonly cluster?: Pick<ClusterStore, 'placement' | 'calls' | 'listInstances'>;
  /** See `InstanceProcessesDeps`. */
  readonly served?: NonNullable<InstanceProcessesDeps['served']>;
  readonly telemetry?: SwarmTelemetry;
  /** The kept connections; none when absent. */
  readonly keepers?: Keepers;
  readonly startChild: InstanceProcessesDeps['startChild'];
  readonly startShared: InstanceProcessesDeps['startShared'];
  /** Receives log lines, with secrets already masked. Must not throw. */
  log(line: LogLine): void;
  /** Called when an agent became ready, with its description. Must not throw. */
  described(agentName: string, description: AgentDescription): void;
}

export class SwarmAgents {
  readonly instances: Instances;
  readonly changes: ProcessChanges;
  readonly watchers: Watchers;
  readonly waiters = new TurnWaiters();
  readonly questions: Questions;
  readonly counters: CounterRequests;
  /** The instances of this node. */
  readonly owned: OwnedInstances;
  readonly moves: InstanceMoves;
  readonly #events: Required<SwarmListener>;
  /** They are called in this order, so that a calling agent gets an answer before clients and watchers get it. */
  readonly #listeners: SwarmListener[];
  readonly #broker: CallBroker;
  readonly #mailboxes: Mailboxes;
  readonly #calls: AgentCalls;
  readonly held: HeldInstances;
  readonly #unread: UnreadInboxes;
  /** Resolves when the swarm is being drained, and only turns begin that a running turn waits for. */
  readonly lastTurnsBegun = Promise.withResolvers<void>();

  constructor(private readonly deps: SwarmDeps) {
    const { currentPlan, clock, ids, store, telemetry, cluster } = deps;
    const owned = new OwnedInstances(store.placement, cluster === undefined, (at) => this.questions.own(at));
    this.owned = owned;
    const report: Report = (...line) => this.report(...line);
    this.#events = tellListeners(() => this.#listeners);
    const asked = () => this.questions.notices();
    this.watchers = new Watchers({ questions: asked, instances: (filter) => this.instances.concernedBy(filter) });
    this.#broker = new CallBroker(() => callRulesOf(currentPlan.value));
    this.held = new HeldInstances({
      asking: () => [...this.questions.asking(), ...this.#calls.heldElsewhere],
      callersOf: (address) => this.#broker.callersOf(address),
      holdRequests: (held) => this.#calls.hold(held),
      tell: (address, isHeld) => this.#tellHeld(address, isHeld),
    });
    const processes = new InstanceProcesses({
      ...deps,
      printed: (whose, output) => this.printed(whose, output),
      heardShared: (...heard) => this.#heardShared(...heard),
      refusedShared: (agentName, problem) => this.report('error', 'frame.refused', problem, { agentName }),
      endedShared: (agentName, end) =>
        this.report('warn', 'process.exited', describeSharedEnd(end), { agentName }, { ...end }),
    });
    const instances = new Instances({
      ...{ clock, currentPlan, events: this.#events, report, processes },
      calls: this.#broker,
      held: this.held,
      watchedKinds: (at) => this.watchers.kindsOf(at),
      slept: (at) => cluster && this.moves.slept(at),
      leavesAnswers: cluster !== undefined,
    });
    this.instances = instances;
    this.changes = new ProcessChanges({
      clock,
      instances,
      asRun: (at, agent) => processes.asRun(at, agent),
      settled: (at) => deps.keepers?.settle(at),
    });
    this.questions = new Questions({
      ...{ clock, ids, events: this.#events, report, store: store.questions, requests: deps.requests },
      ...(cluster && {
        nodes: { isOwned: (at: AgentAddress) => owned.has(at), list: (at) => store.questions.list(at) },
      }),
      say: (at, message) => instances.find(at)?.say(message),
      tell: (notice) => this.#tell(notice),
      maskFor: (agentName) => this.#maskFor(agentName),
    });
    this.counters = new CounterRequests({
      ...{ clock, report, store: store.counters },
      limits: () => currentPlan.value.limits,
      say: (at, message) => instances.find(at)?.say(message),
      isApproved: (at, id, budget) => this.questions.findApproval(at, id, 'budget', budget) !== undefined,
    });
    this.#unread = new UnreadInboxes(store.inbox, instances, clock);
    const sample = telemetry?.sample ?? ((event) => event);
    const unread = this.#unread;
    const elsewhere = cluster && {
      has: (at: AgentAddress) => !owned.has(at),
      accepted: (to: AgentAddress, event: AgentEvent) => this.moves.acceptedElsewhere(to, event),
      isNext: (at: AgentAddress, seq: number) => owned.isNext(at, seq),
      wake: (at: AgentAddress) => void woken.wake(at),
    };
    this.#mailboxes = new Mailboxes({
      inbox: store.inbox,
      blobs: store.blobs,
      placement: owned,
      ...{ instances, unread, currentPlan, sample, report },
      ...(elsewhere && { elsewhere }),
    });
    const mailboxes = this.#mailboxes;
    const woken: WokenInstances = new WokenInstances({
      ...{ inbox: store.inbox, owned, instances, mailboxes, unread },
      inputRead: (at) => this.#calls.inputRead(at),
    });
    store.inbox.onWake((at) => void woken.wake(at));
    const remote = cluster && { calls: cluster.calls, isAnybodyAsking: () => this.questions.asking().length > 0 };
    this.#calls = new AgentCalls({
      ...{ clock, broker: this.#broker, instances, mailboxes, events: this.#events, report },
      ...(remote && { remote }),
    });
    this.moves = new InstanceMoves({
      ...{ clock, owned, instances, mailboxes, unread, questions: this.questions, calls: this.#calls },
      ...{ waiters: this.waiters, currentPlan, report, placement: cluster?.placement },
      ...(deps.keepers && { keepers: deps.keepers }),
    });
    const kept = deps.keepers === undefined ? [] : [deps.keepers];
    const own = this.#ownListener();
    const list = () => this.list();
    const lists = new AnswerLists({ currentPlan, instances, list, stored: cluster, report });
    const { counters, questions, watchers, changes } = this;
    this.#listeners = [mailboxes, woken, this.#calls, counters, questions, this.held, watchers, changes, instances];
    this.#listeners.push(...kept, lists, own);
  }

  /** Adds a part that is built on the swarm. It hears events after the swarm's own parts. */
  listen(listener: SwarmListener): void {
    this.#listeners.push(listener);
  }

  get keepers(): Keepers | undefined {
    return this.deps.keepers;
  }

  get agents(): readonly string[] {
    return this.deps.currentPlan.value.names;
  }

  /** Accepts an event. Every event for an agent comes through this method; see `Mailboxes`. */
  accept(...given: Parameters<Mailboxes['accept']>): ReturnType<Mailboxes['accept']> {
    return this.#mailboxes.accept(...given);
  }

  /** Cancels a turn; see `Mailboxes`. */
  cancel(at: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    return this.#mailboxes.cancel(at, eventId, reason);
  }

  /**
   * Removes an instance with its events. `remove` deletes it from the disk; it runs while the instance has no process
   * and accepts no input.
   */
  async discard<Value>(address: AgentAddress, grace: Grace, remove: () => Promise<Value>): Promise<Value> {
    const takeOff = async () => {
      // First, because a kept server may use the files.
      await this.keepers?.endConversation(address);
      const removed = await remove();
      this.questions.drop(address);
      await this.counters.drop(address);
      const message = `Conversation ${JSON.stringify(address.instanceKey)} of agent "${address.agentName}" was deleted.`;
      this.instances.post(address, { type: 'discard', error: { code: 'E_INSTANCE_DELETED', message } });
      this.instances.forget(address);
      this.#unread.delete(address);
      await this.owned.release(address);
      this.report('info', 'instance.deleted', 'Its conversation was deleted.', address);
      this.#tellChange(address, 'deleted');
      return removed;
    };
    return this.instances.whileAsleep(address, grace, () => this.#mailboxes.between(address, takeOff));
  }

  /**
   * Adds an instance that `make` creates on disk. While `make` runs, the instance has no process and accepts no input.
   */
  async admit<Value>(address: AgentAddress, grace: Grace, make: () => Promise<Value>): Promise<Value> {
    const takeIn = async () => {
      const made = await make();
      this.instances.remember(address);
      this.#tellChange(address, 'forked');
      return made;
    };
    return this.instances.whileAsleep(address, grace, () => this.#mailboxes.between(address, takeIn));
  }

  /** Resets an instance. `reset` runs while the instance has no process. */
  async resetInstance(address: AgentAddress, grace: Grace, reset: () => Promise<void>): Promise<void> {
    await this.instances.whileAsleep(address, grace, async () => {
      await this.keepers?.endConversation(address);
      await reset();
      // The turn starts again and makes its approval requests again.
      this.questions.drop(address);
      this.#tellChange(address, 'reset');
      // The state that prevented the instance from starting may have been removed.
      await this.forgive(address);
    });
  }

  /**
   * Handles inputs that were accepted before this orchestrator started or, if `only` is given, before these agents were
   * declared. Returns the number of events.
   */
  async wake(only?: ReadonlySet<string>): Promise<number> {
    // On several nodes, the store wakes each node for its own input.
    if (only?.size === 0 || this.deps.cluster !== undefined) return 0;
    const { owned, instances, questions, agents } = this;
    const report: Report = (...line) => this.report(...line);
    const parts = { store: this.deps.store, owned, instances, questions, agents, unread: this.#unread, report };
    const woken = await wakeInputs(parts, only);
    this.#events.waitsChanged();
    return woken;
  }

  /** Allows another attempt to start, after a person's restart or a reload. */
  async forgive(address: AgentAddress): Promise<void> {
    this.instances.post(address, { type: 'forgive' });
    await this.#unread.tryAgain(address);
  }

  /** Ends all instances; see `drainInstances`. Nothing more is accepted, and callers get no answers afterwards. */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    this.#mailboxes.close();
    void beginNothing(this.instances).then(() => this.lastTurnsBegun.resolve());
    const callersOf = (address: AgentAddress) => this.#broker.callersOf(address);
    await drainInstances(this.instances, this.deps.clock, callersOf, graceMs, hurry);
    this.#calls.close();
    this.moves.close();
    this.#unread.close();
    this.questions.close();
    await this.counters.close();
  }

  report(level: LogLevel, event: string, message: string, at?: ReportSubject, data?: JsonValue): void {
    this.log({
      time: this.deps.clock.now().toISOString(),
      level,
      message,
      ...(at === undefined
        ? {}
        : defined({ agent: at.agentName, instance: at.instanceKey, turnId: at.turnId, traceId: at.traceId })),
      event,
      ...(data === undefined ? {} : { data }),
    });
  }

  #tellHeld(address: AgentAddress, isHeld: boolean): boolean {
    const instance = this.instances.find(address);
    if (instance?.running === undefined) return false;
    instance.say({ type: 'turn.held', eventId: instance.running.id, isHeld });
    return true;
  }

  #maskFor(agentName: string): Mask {
    return this.deps.currentPlan.value.secrets.maskFor(agentName);
  }

  /** Handles a message of a shared process that concerns no conversation. */
  #heardShared(agentName: string, pid: number, message: FromAgent): void {
    if (message.type === 'dropped') return this.#reportDropped({ agentName }, message.counts);
    if (message.type !== 'log') return;
    this.log({ ...message.line, agent: agentName });
    // A change that these conversations prepare fails with the process, and says why.
    for (const { address, pid: own } of this.instances.all()) if (own === pid) this.changes.heard(address, message);
  }

  /** Returns the listener that makes the notices for people and programs outside of the swarm. */
  #ownListener(): SwarmListener {
    return {
      heard: (at, frame) => this.#heard(at, frame),
      described: ({ agentName }, description) => this.deps.described(agentName, description),
      turnFinished: (at, turn) => this.#turnFinished(at, turn),
      requestsFailed: (at, error) => this.waiters.failed(at, fromFrameError(error)),
    };
  }

  #heard(at: AgentAddress, frame: AgentFrame): void {
    switch (frame.type) {
      case 'delta': {
        const { type, eventId, delta } = frame;
        return this.#tell(() => ({ type, at: toInstanceAddress(at), eventId, delta }));
      }
      case 'runtime.event': {
        const { type, name, payload } = frame;
        return this.#tell(() => ({ type, at: toInstanceAddress(at), name, payload }));
      }
      case 'log':
        // The channel determines which instance the line belongs to.
        return this.log({ ...frame.line, agent: at.agentName, instance: at.instanceKey });
      case 'dropped':
        return this.#reportDropped(at, frame.counts);
      // All other frames are handled by other listeners.
      default:
    }
  }

  #reportDropped(at: ReportSubject, { delta, log, 'runtime.event': events }: DroppedCounts): void {
    const message = `Its process dropped ${delta} deltas, ${log} log lines and ${events} events: there were too many at once.`;
    this.report('warn', 'frames.dropped', message, at);
  }

  /** Lists the instances with a process, work or a conversation. */
  list(): readonly AgentInstance[] {
    const { agents } = this.deps.currentPlan.value;
    return [...this.instances.known()]
      .filter(({ agentName }) => agents.has(agentName))
      .map((address) => ({ ...address, status: this.instances.find(address)?.status ?? 'asleep' }));
  }

  #turnFinished(address: AgentAddress, { event, isTaken: _, ...outcome }: FinishedTurn): void {
    const { id: eventId, traceId } = event;
    const end = { ...toInstanceAddress(address), eventId, traceId, ...outcome };
    this.waiters.ended(address, end);
    this.#tell(() => ({ type: 'turn.ended', end }));
  }

  /** Fails the open requests to this instance: they will get no answer. */
  failRequests(address: AgentAddress, error: FrameError): void {
    this.#events.requestsFailed(address, error);
  }

  /** Logs a line that a child printed, with secrets masked. */
  printed(whose: Pick<LogLine, 'agent' | 'instance' | 'connection'>, output: ChildOutput): void {
    this.log(lineOfOutput(output, whose, this.deps.clock.now()));
  }

  log(line: LogLine): void {
    this.deps.log(line);
    this.#tell(() => ({ type: 'log', line }));
  }

  #tellChange(at: AgentAddress, change: InstanceNotice['change']): void {
    this.#tell(() => ({ type: 'instance', at: toInstanceAddress(at), change }));
  }

  #tell(notice: () => SwarmNotice): void {
    if (this.watchers.isWatched) this.watchers.tell(notice());
  }
}
