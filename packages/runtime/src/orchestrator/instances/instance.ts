/**
 * One agent instance in the orchestrator: a supervised process that runs turns. The state machine makes all decisions.
 */
import type { AgentAddress, AgentEvent, AgentInstance, ExtensionStatusChanged } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import type { AgentSelf, FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent, WatchedKind } from '../../ipc/to-agent.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import { shortIdOfEvent } from '../../ports/turn-ids.ts';
import type { InstanceInput, InstanceState, Phase } from '../supervision/instance-state.ts';
import { hasTurn } from '../supervision/instance-step.ts';
import { hasFailedForGood } from '../supervision/lose-process.ts';
import { isTooEarly } from '../supervision/start-failure.ts';
import type { ProcessListener, RunningProcess } from '../supervision/supervise-process.ts';
import { type OwnAction, SupervisedProcess } from '../supervision/supervised-process.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';
import { type AgentFrame, type Report, type SwarmListener, turnOf } from './swarm-listener.ts';

export interface SpawnOptions {
  /** The kinds of frames that the process sends from its start. */
  readonly watched: readonly WatchedKind[];
  /** True if the instance must not share a process. */
  readonly isAlone: boolean;
}

/** The parts of the swarm that an instance needs. */
export interface InstanceDeps {
  readonly clock: Clock;
  readonly events: Required<SwarmListener>;
  readonly report: Report;
  policy(): SupervisionPolicy;
  /** Adds an input to the queue of all instances, so that no step runs inside another step. */
  post(instance: Instance, input: InstanceInput): void;
  /** Starts a process; with `isAlone`, one of its own. May throw `E_PROCESS_START`. */
  spawn(
    at: AgentAddress,
    process: number,
    options: SpawnOptions,
    listener: ProcessListener<FromAgent>,
  ): RunningProcess<ToAgent>;
  /** Returns the kinds of frames of this instance that somebody watches. */
  watchedKinds(at: AgentAddress): readonly WatchedKind[];
  /** True if the store keeps each answer until the turn of its caller is committed, whoever has got it. */
  readonly leavesAnswers?: boolean;
  askSlot(instance: Instance): void;
  releaseSlot(instance: Instance): void;
}

export class Instance extends SupervisedProcess<ToAgent, FromAgent> {
  #statuses: readonly ExtensionStatusChanged[] | undefined;
  /** The reason of the last failure, as the process logged it, to avoid logging the same reason twice. */
  #lastWords: string | undefined;
  #changes = 0;
  /** The kinds of frames that the running process sends. */
  #watched: readonly WatchedKind[] = [];

  constructor(
    readonly address: AgentAddress,
    readonly key: string,
    private readonly deps: InstanceDeps,
  ) {
    super(deps.clock);
  }

  /** The event of the running turn. */
  get running(): AgentEvent | undefined {
    return hasTurn(this.state.phase) ? this.state.queue[0]?.event : undefined;
  }

  /** The statuses of the instance's extensions, as its process last reported them. */
  get extensionStatuses(): readonly ExtensionStatusChanged[] | undefined {
    return this.#statuses;
  }

  /** The number of changes that the running process was asked to prepare. */
  get changes(): number {
    return this.shared?.changes ?? this.#changes;
  }

  /** Asks the process to prepare a change. The process counts the change even if it fails, because it keeps its modules. */
  prepareChange(change: number, agent: DeclaredAgent): void {
    this.#changes += 1;
    this.say({ type: 'change.prepare', change, plan: copyJsonObject(agent, { omitUndefined: true }) });
  }

  /** Tells the process which kinds of frames somebody watches. `wantsSoFar`: it answers with the running turn so far. */
  watch(kinds: readonly WatchedKind[], wantsSoFar: boolean): void {
    const isKnown = kinds.length === this.#watched.length && kinds.every((kind) => this.#watched.includes(kind));
    if (isKnown && !wantsSoFar) return;
    this.#watched = kinds;
    const during = this.running === undefined ? {} : { during: this.running.id };
    this.say({ type: 'watch', kinds: [...kinds], ...(wantsSoFar ? { soFar: true } : {}), ...during });
  }

  get status(): AgentInstance['status'] {
    const { phase } = this.state;
    // The process may need a moment to exit; the callers know already.
    if (hasFailedForGood(this.state)) return 'does not start';
    return hasTurn(phase) ? 'working' : statusWithoutTurn[this.state.phase.name];
  }

  protected override post(input: InstanceInput): void {
    this.deps.post(this, input);
  }

  protected override policy(): SupervisionPolicy {
    return this.deps.policy();
  }

  protected override spawn(process: number, listener: ProcessListener<FromAgent>): RunningProcess<ToAgent> {
    try {
      this.#watched = this.deps.watchedKinds(this.address);
      const options = { watched: this.#watched, isAlone: this.state.isAlone === true };
      return this.deps.spawn(this.address, process, options, listener);
    } catch (error) {
      const { code, message } = toFrameError(error, 'E_PROCESS_START');
      this.report('error', 'start.failed', `${code}: ${message}`);
      throw error;
    }
  }

  protected override stepped(before: InstanceState, input: InstanceInput): void {
    if (input.type === 'forgive') this.#lastWords = undefined;
    const isStarting = this.state.phase.name === 'starting';
    if (isStarting !== (before.phase.name === 'starting')) this.deps.events.processStarting(this.address, isStarting);
  }

  protected override perform(action: OwnAction): void {
    const { events } = this.deps;
    switch (action.type) {
      case 'slot.ask':
        return this.deps.askSlot(this);
      case 'slot.release':
        return this.deps.releaseSlot(this);
      case 'turn.send': {
        const { event, seq, deadLetter, blocked, takeOvers, isExcused } = action;
        const more = defined({ blocked, takeOvers, isExcused });
        this.say({ type: 'turn', event, seq, ...(deadLetter ? { deadLetter } : {}), ...more });
        return events.turnStarted(this.address, event);
      }
      case 'turn.ahead':
        // A turn that has crashed is tried without it: the process may have rejected its frame. It comes as a `turn`.
        if ((this.state.queue[0]?.crashes ?? 0) > 0) return undefined;
        return this.say({ type: 'turn.ahead', event: action.event, seq: action.seq });
      case 'turn.back':
        return this.say({ type: 'turn.back', eventId: action.eventId });
      case 'turn.steer':
        return this.say({ type: 'turn.steer', event: action.event, seq: action.seq });
      case 'turn.started':
        return events.turnStarted(this.address, action.event);
      case 'turn.cancel':
        return this.say({ type: 'cancel', eventId: action.eventId, reason: action.reason });
      case 'turn.finished':
        return this.#finish(action);
      case 'event.deadLettered': {
        const { event, ended, crashes, blocked } = action;
        const how = blocked === undefined ? ` ${crashes} times` : `, ${blocked},`;
        return this.deps.report(
          'error',
          'event.dead_lettered',
          `Turn ${shortIdOfEvent(event.id)} ended its ${ended}${how} and is not run again. Its event becomes a dead letter, unless the turn had already been answered.`,
          turnOf(this.address, event.id, event.traceId),
        );
      }
      case 'requests.fail':
        return events.requestsFailed(this.address, action.error);
      case 'report':
        return this.report(action.level, action.event, action.message);
    }
  }

  protected override lost(): void {
    this.#statuses = undefined;
    this.#changes = 0;
    this.deps.events.processGone(this.address);
  }

  /**
   * Kills a process that did not get a message, because it would wait forever; the next process gets the message again.
   */
  protected override unsent(process: number, type: string, problem: string, thrown: unknown): void {
    // The event is sent again when its turn comes. Its size must not end the running turn of another event.
    if (type === 'turn.ahead' || type === 'turn.steer') return;
    this.report('error', 'frame.not_sent', problem);
    // If the disk is the cause, the failure does not count as a crash of the event.
    const error = toFrameError(thrown, 'E_UNEXPECTED');
    if (this.running !== undefined) this.post({ type: 'turn.lost', process, error });
    this.kill();
  }

  protected override report(level: LogLevel, event: string, message: string): void {
    this.deps.report(level, event, message, this.address);
  }

  protected override heard(process: number, message: FromAgent): void {
    switch (message.type) {
      case 'ready':
        // This input is posted before the description is recorded, so that the process gets work first.
        this.post({ type: 'ready', process, takesAhead: true });
        return this.#takeDescription(message);
      case 'described':
        return this.#takeDescription(message);
      case 'start.failed':
        return this.post({ type: 'start.failed', process, error: message.error });
      case 'turn.lost':
        this.post({ type: 'turn.lost', process, error: message.error });
        return isTooEarly(message.error) ? this.deps.events.inputMissed(this.address) : undefined;
      case 'turn.done': {
        const { type, eventId, begins, took, ...outcome } = message;
        return this.post({ type, process, eventId, outcome, ...defined({ took, begins }) });
      }
      case 'turn.returned':
        return this.post({ type: 'turn.returned', process, eventId: message.eventId });
      case 'pong':
      case 'turn.begun':
      case 'replayed':
        // The heartbeat handles `pong` and `turn.begun`; `replayed` comes only from a process that was started for a replay.
        return undefined;
      case 'drained':
        return message.leavesTurn === true ? this.post({ type: 'turn.left', process }) : undefined;
      case 'log':
        return this.#isSaid(message.line) ? undefined : this.#pass(message);
      default:
        return this.#pass(message);
    }
  }

  #pass(frame: AgentFrame): void {
    this.deps.events.heard(this.address, frame, this.running);
  }

  #takeDescription({ type: _, statuses, ...description }: Extract<FromAgent, AgentSelf>): void {
    this.#statuses = statuses;
    this.deps.events.described(this.address, description);
  }

  /**
   * Returns true if this line was already logged: each attempt of an instance that does not start logs the same text.
   */
  #isSaid({ event, message }: LogLine): boolean {
    if (event !== 'start.failed' && event !== 'turn.lost') return false;
    if (message === this.#lastWords) return true;
    this.#lastWords = message;
    return false;
  }

  #finish({ event, outcome, isTaken, traceId }: Extract<OwnAction, { type: 'turn.finished' }>): void {
    this.#lastWords = undefined;
    // The waiting caller gets the answer now, so the process need not keep it.
    if (event.replyTo !== undefined && this.deps.leavesAnswers !== true)
      this.say({ type: 'reply.taken', eventId: event.id });
    this.deps.events.turnFinished(this.address, { event, ...outcome, ...defined({ isTaken, traceId }) });
  }
}

const statusWithoutTurn: Readonly<Record<Phase['name'], AgentInstance['status']>> = {
  absent: 'asleep',
  doesNotStart: 'does not start',
  backoff: 'waiting',
  inLine: 'waiting',
  starting: 'starting',
  ready: 'idle',
  busy: 'working',
  draining: 'waiting',
  killed: 'waiting',
  stopped: 'stopped',
};
