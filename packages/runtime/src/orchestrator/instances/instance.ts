/** One agent instance as the orchestrator knows it: a supervised process that runs turns. It decides nothing itself. */
import type {
  AgentAddress,
  AgentEvent,
  AgentInstance,
  ExtensionStatusChanged,
  TokenUsage,
  TurnResult,
} from '@goondan/types';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import type { AgentSelf, FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import type { InstanceInput, InstanceState } from '../supervision/instance-state.ts';
import { hasTurn } from '../supervision/instance-step.ts';
import type { ProcessListener, RunningProcess } from '../supervision/supervise-process.ts';
import { type OwnAction, SupervisedProcess } from '../supervision/supervised-process.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';
import type { AgentFrame, Report, SwarmListener } from './swarm-listener.ts';

/** What an instance needs from the swarm around it. */
export interface InstanceDeps {
  readonly clock: Clock;
  readonly events: Required<SwarmListener>;
  readonly report: Report;
  policy(): SupervisionPolicy;
  /** Puts an input into the line of all inputs: nothing is stepped inside a step. */
  post(instance: Instance, input: InstanceInput): void;
  /** May throw `E_PROCESS_START`. */
  spawn(at: AgentAddress, process: number, listener: ProcessListener<FromAgent>): RunningProcess<ToAgent>;
  askSlot(instance: Instance): void;
  releaseSlot(instance: Instance): void;
}

export class Instance extends SupervisedProcess<ToAgent, FromAgent> {
  readonly address: AgentAddress;
  readonly key: string;
  readonly #deps: InstanceDeps;
  #statuses: readonly ExtensionStatusChanged[] | undefined;
  /** Why a process of it last ended, as it said itself; said again it is not logged again. */
  #lastWords: string | undefined;
  /** Of the turn whose end is being told. */
  #told: { readonly stepCount: number; readonly usage: TokenUsage } | undefined;

  constructor(address: AgentAddress, key: string, deps: InstanceDeps) {
    super(deps.clock);
    this.address = address;
    this.key = key;
    this.#deps = deps;
  }

  /** The event whose turn runs. */
  get running(): AgentEvent | undefined {
    return hasTurn(this.state.phase) ? this.state.queue[0]?.event : undefined;
  }

  /** How things are that its extensions need, as its process said last. */
  get extensionStatuses(): readonly ExtensionStatusChanged[] | undefined {
    return this.#statuses;
  }

  get status(): AgentInstance['status'] {
    return statusOf(this.state);
  }

  protected override post(input: InstanceInput): void {
    this.#deps.post(this, input);
  }

  protected override policy(): SupervisionPolicy {
    return this.#deps.policy();
  }

  protected override spawn(process: number, listener: ProcessListener<FromAgent>): RunningProcess<ToAgent> {
    try {
      return this.#deps.spawn(this.address, process, listener);
    } catch (error) {
      const { code, message } = toFrameError(error, 'E_PROCESS_START');
      this.report('error', 'start.failed', `${code}: ${message}`);
      throw error;
    }
  }

  protected override stepped(before: InstanceState, input: InstanceInput): void {
    if (input.type === 'forgive') this.#lastWords = undefined;
    const isStarting = this.state.phase.name === 'starting';
    if (isStarting !== (before.phase.name === 'starting')) this.#deps.events.processStarting(this.address, isStarting);
  }

  protected override perform(action: OwnAction): void {
    const { events } = this.#deps;
    switch (action.type) {
      case 'slot.ask':
        return this.#deps.askSlot(this);
      case 'slot.release':
        return this.#deps.releaseSlot(this);
      case 'turn.send': {
        const { event, seq, deadLetter, isExcused } = action;
        const excused = isExcused === undefined ? {} : { isExcused };
        this.say({ type: 'turn', event, seq, ...(deadLetter ? { deadLetter } : {}), ...excused });
        return events.turnStarted(this.address, event);
      }
      case 'turn.cancel':
        return this.say({ type: 'cancel', eventId: action.eventId, reason: action.reason });
      case 'turn.finished':
        return this.#finish(action.event, action.result);
      case 'event.deadLettered':
        return this.report(
          'error',
          'event.dead_lettered',
          `Event ${action.event.id} ended its process ${action.crashes} times and is put aside.`,
        );
      case 'requests.fail':
        return events.requestsFailed(this.address, action.error);
      case 'report':
        return this.report(action.level, action.event, action.message);
    }
  }

  protected override lost(): void {
    this.#statuses = undefined;
    this.#deps.events.processGone(this.address);
  }

  /** It would wait for ever for what it was not told: a new process gets it again. */
  protected override unsent(process: number, _type: string, problem: string, thrown: unknown): void {
    this.report('error', 'frame.not_sent', problem);
    // The disk may be why, and then the event is not to blame.
    const error = toFrameError(thrown, 'E_UNEXPECTED');
    if (this.running !== undefined) this.post({ type: 'turn.lost', process, error });
    this.kill();
  }

  protected override report(level: LogLevel, event: string, message: string): void {
    this.#deps.report(level, event, message, this.address);
  }

  protected override heard(process: number, message: FromAgent): void {
    switch (message.type) {
      case 'ready':
        // Work goes to the process first: what is written down can wait.
        this.post({ type: 'ready', process });
        return this.#takeDescription(message);
      case 'described':
        return this.#takeDescription(message);
      case 'start.failed':
        return this.post({ type: 'start.failed', process, error: message.error });
      case 'turn.lost':
        return this.post({ type: 'turn.lost', process, error: message.error });
      case 'turn.done': {
        const { eventId, result, stepCount, usage } = message;
        this.#told = { stepCount, usage };
        return this.post({ type: 'turn.done', process, eventId, result });
      }
      case 'pong':
      case 'replayed':
        // The first goes to the heartbeat, the second comes only from a process that was started for it.
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
    this.#deps.events.heard(this.address, frame, this.running);
  }

  #takeDescription({ type: _, statuses, ...description }: Extract<FromAgent, AgentSelf>): void {
    this.#statuses = statuses;
    this.#deps.events.described(this.address, description);
  }

  /** Each try of an instance that does not start says the same: people want to read it once. */
  #isSaid({ event, message }: LogLine): boolean {
    if (event !== 'start.failed' && event !== 'turn.lost') return false;
    if (message === this.#lastWords) return true;
    this.#lastWords = message;
    return false;
  }

  #finish(event: AgentEvent, result: TurnResult): void {
    const { stepCount, usage } = this.#told ?? nothingTold;
    this.#told = undefined;
    this.#lastWords = undefined;
    // Whoever waits gets it now; the process need not keep it for them any more.
    if (event.replyTo !== undefined) this.say({ type: 'reply.taken', eventId: event.id });
    this.#deps.events.turnFinished(this.address, { event, result, stepCount, usage });
  }
}

const nothingTold = { stepCount: 0, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };

function statusOf({ phase }: InstanceState): AgentInstance['status'] {
  switch (phase.name) {
    case 'absent':
      return 'asleep';
    case 'doesNotStart':
      return 'does not start';
    case 'backoff':
    case 'inLine':
      return 'waiting';
    case 'starting':
      return 'starting';
    case 'ready':
      return 'idle';
    case 'busy':
      return 'working';
    case 'draining':
    case 'killed':
      return phase.hasTurn ? 'working' : 'waiting';
    case 'stopped':
      return 'stopped';
  }
}
