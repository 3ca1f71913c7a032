/**
 * One agent instance as the orchestrator knows it: the machine of `supervision/`, fed with what happens, and its actions
 * done. It decides nothing itself.
 */
import type {
  AgentAddress,
  AgentEvent,
  AgentInstance,
  ExtensionStatusChanged,
  TokenUsage,
  TurnResult,
} from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import type { AgentDescription, AgentSelf, FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import { NamedTimers } from '../named-timers.ts';
import { stepInstance } from '../supervision/instance-machine.ts';
import {
  type InstanceAction,
  type InstanceInput,
  type InstanceState,
  type InstanceTimer,
  newInstance,
} from '../supervision/instance-state.ts';
import { hasProcess, hasTurn } from '../supervision/instance-step.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';
import type { AgentProcess, AgentProcessListener } from './agent-process.ts';

/** Frames that are not about the process itself. */
export type AgentFrame = Exclude<
  FromAgent,
  {
    readonly type: 'ready' | 'described' | 'start.failed' | 'turn.done' | 'turn.lost' | 'pong' | 'drained' | 'replayed';
  }
>;

/** How a turn ended, with what only its process knows. */
export interface FinishedTurn {
  readonly event: AgentEvent;
  readonly result: TurnResult;
  readonly stepCount: number;
  readonly usage: TokenUsage;
}

/** What an instance needs from the swarm around it. */
export interface InstanceHost {
  readonly clock: Clock;
  readonly policy: SupervisionPolicy;
  /** Puts an input into the line of all inputs: nothing is stepped inside a step. */
  post(instance: Instance, input: InstanceInput): void;
  /** May throw `E_PROCESS_START`. */
  spawn(instance: Instance, process: number, listener: AgentProcessListener): AgentProcess;
  askSlot(instance: Instance): void;
  releaseSlot(instance: Instance): void;
  /** Its process begins to start, or does not any more. */
  processStarting(instance: Instance, isStarting: boolean): void;
  /** Also when it goes on in another process. */
  turnStarted(instance: Instance, event: AgentEvent): void;
  turnFinished(instance: Instance, turn: FinishedTurn): void;
  requestsFailed(instance: Instance, error: FrameError): void;
  deadLettered(instance: Instance, event: AgentEvent, crashes: number): void;
  heard(instance: Instance, frame: AgentFrame): void;
  /** Its process is ready, or has changed, and this is what it is made of. Must not throw. */
  described(instance: Instance, description: AgentDescription): void;
  processGone(instance: Instance): void;
  report(instance: Instance, level: LogLevel, event: string, message: string): void;
}

export class Instance {
  readonly address: AgentAddress;
  readonly key: string;
  readonly #host: InstanceHost;
  readonly #timers: NamedTimers<InstanceTimer>;
  #state: InstanceState = newInstance;
  #process: AgentProcess | undefined;
  #statuses: readonly ExtensionStatusChanged[] | undefined;
  /** Why a process of it last ended, as it said itself; said again it is not logged again. */
  #lastWords: string | undefined;
  /** Of the turn whose end is being told. */
  #told: { readonly stepCount: number; readonly usage: TokenUsage } | undefined;

  constructor(address: AgentAddress, key: string, host: InstanceHost) {
    this.address = address;
    this.key = key;
    this.#host = host;
    this.#timers = new NamedTimers(host.clock, (timer) => host.post(this, { type: 'timer', timer }));
  }

  get state(): InstanceState {
    return this.#state;
  }

  /** The event whose turn runs. */
  get running(): AgentEvent | undefined {
    return hasTurn(this.#state.phase) ? this.#state.queue[0]?.event : undefined;
  }

  get hasProcess(): boolean {
    return hasProcess(this.#state.phase);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** How things are that its extensions need, as its process said last. */
  get extensionStatuses(): readonly ExtensionStatusChanged[] | undefined {
    return this.#statuses;
  }

  get status(): AgentInstance['status'] {
    return statusOf(this.#state);
  }

  /** Only from the line of inputs: see `InstanceHost.post`. */
  step(input: InstanceInput): void {
    const { clock, policy } = this.#host;
    if (input.type === 'forgive') this.#lastWords = undefined;
    const { state, actions } = stepInstance(this.#state, input, clock.elapsed(), policy);
    const wasStarting = this.#state.phase.name === 'starting';
    const isStarting = state.phase.name === 'starting';
    this.#state = state;
    if (isStarting !== wasStarting) this.#host.processStarting(this, isStarting);
    for (const action of actions) this.#perform(action);
  }

  /** To its process, if it has one. */
  say(message: ToAgent): void {
    this.#process?.say(message);
  }

  #perform(action: InstanceAction): void {
    const host = this.#host;
    switch (action.type) {
      case 'slot.ask':
        return host.askSlot(this);
      case 'slot.release':
        return host.releaseSlot(this);
      case 'process.spawn':
        return this.#spawn(action.process);
      case 'process.drain':
        return this.say(drainFrame(action));
      case 'process.kill':
        return this.#process?.kill();
      case 'turn.send': {
        const { event, seq, deadLetter, isExcused } = action;
        const excused = isExcused === undefined ? {} : { isExcused };
        this.say({ type: 'turn', event, seq, ...(deadLetter ? { deadLetter } : {}), ...excused });
        return host.turnStarted(this, event);
      }
      case 'turn.cancel':
        return this.say({ type: 'cancel', eventId: action.eventId, reason: action.reason });
      case 'turn.finished':
        return this.#finish(action.event, action.result);
      case 'event.deadLettered':
        return host.deadLettered(this, action.event, action.crashes);
      case 'requests.fail':
        return host.requestsFailed(this, action.error);
      case 'timer.set':
        return this.#timers.set(action.timer, action.at);
      case 'timer.clear':
        return this.#timers.clear(action.timer);
      case 'report':
        return host.report(this, action.level, action.event, action.message);
    }
  }

  #spawn(process: number): void {
    try {
      this.#process = this.#host.spawn(this, process, this.#listenerFor(process));
    } catch (error) {
      const failure = toFrameError(error, 'E_PROCESS_START');
      this.#host.report(this, 'error', 'start.failed', `${failure.code}: ${failure.message}`);
      this.#host.post(this, { type: 'start.failed', process, error: failure });
      this.#host.post(this, { type: 'exited', process, code: null, signal: null });
    }
  }

  #listenerFor(process: number): AgentProcessListener {
    const host = this.#host;
    return {
      message: (message) => this.#hear(process, message),
      refused: (problem) => host.report(this, 'warn', 'frame.refused', problem),
      hung: () => host.post(this, { type: 'heartbeat.missed', process }),
      exited: ({ code, signal, leftBehind }) => {
        if (leftBehind > 0) {
          host.report(this, 'warn', 'process.left_behind', `Ended ${leftBehind} processes that it had left behind.`);
        }
        this.#process = undefined;
        this.#statuses = undefined;
        host.processGone(this);
        host.post(this, { type: 'exited', process, code, signal });
      },
      cutOff: () => {
        host.report(this, 'error', 'process.cut_off', 'It closed its channel, lives on, and is killed.');
        this.#process?.kill();
      },
      // It would wait for ever for what it was not told: a new process gets it again.
      unsayable: (problem, thrown) => {
        host.report(this, 'error', 'frame.not_sent', problem);
        // The disk may be why, and then the event is not to blame.
        const error = toFrameError(thrown, 'E_UNEXPECTED');
        if (this.running !== undefined) host.post(this, { type: 'turn.lost', process, error });
        this.#process?.kill();
      },
    };
  }

  #hear(process: number, message: FromAgent): void {
    const host = this.#host;
    switch (message.type) {
      case 'ready':
        // Work goes to the process first: what is written down can wait.
        host.post(this, { type: 'ready', process });
        return this.#takeDescription(message);
      case 'described':
        return this.#takeDescription(message);
      case 'start.failed':
        return host.post(this, { type: 'start.failed', process, error: message.error });
      case 'turn.lost':
        return host.post(this, { type: 'turn.lost', process, error: message.error });
      case 'turn.done': {
        const { eventId, result, stepCount, usage } = message;
        this.#told = { stepCount, usage };
        return host.post(this, { type: 'turn.done', process, eventId, result });
      }
      case 'replayed':
        // Only of a process that was started for it.
        return undefined;
      case 'drained':
        return message.leavesTurn === true ? host.post(this, { type: 'turn.left', process }) : undefined;
      case 'pong':
        return;
      case 'log':
        return this.#isSaid(message.line) ? undefined : host.heard(this, message);
      default:
        return host.heard(this, message);
    }
  }

  #takeDescription({ type: _, statuses, ...description }: Extract<FromAgent, AgentSelf>): void {
    this.#statuses = statuses;
    this.#host.described(this, description);
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
    this.#host.turnFinished(this, { event, result, stepCount, usage });
  }
}

const nothingTold = { stepCount: 0, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };

function drainFrame({ graceMs, cleanUpMs }: Extract<InstanceAction, { type: 'process.drain' }>): ToAgent {
  const cleanUp = cleanUpMs === undefined ? {} : { cleanUpMs: Math.round(cleanUpMs) };
  return { type: 'drain', graceMs: Math.round(graceMs), ...cleanUp };
}

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
