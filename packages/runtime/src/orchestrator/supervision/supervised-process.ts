/**
 * Connects the state machine of this folder to one process: passes inputs to the machine and carries out its actions.
 * The machine makes all decisions. An agent instance and a connection are each a supervised process, with their own
 * work and messages.
 */
import { toFrameError } from '../../ipc/check/frame-error.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel } from '../../ports/log-line.ts';
import { NamedTimers } from './named-timers.ts';
import { stepInstance } from './instance-machine.ts';
import {
  type InstanceAction,
  type InstanceInput,
  type InstanceState,
  type InstanceTimer,
  newInstance,
} from './instance-state.ts';
import { hasProcess } from './instance-step.ts';
import type { ProcessListener, RunningProcess } from './supervise-process.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

/** Actions that do not concern the process or its timers. */
export type OwnAction = Exclude<InstanceAction, { readonly type: `process.${string}` | `timer.${string}` }>;

/** The base class of instances and connections. Methods that a subclass implements must not throw, except `spawn`. */
export abstract class SupervisedProcess<Down, Up> {
  readonly #timers: NamedTimers<InstanceTimer>;
  #state: InstanceState = newInstance;
  #process: RunningProcess<Down> | undefined;

  constructor(private readonly clock: Clock) {
    this.#timers = new NamedTimers(clock, (timer) => this.post({ type: 'timer', timer }));
  }

  get state(): InstanceState {
    return this.#state;
  }

  get hasProcess(): boolean {
    return hasProcess(this.#state.phase);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The process that this one shares with others; undefined for a process of its own. */
  get shared(): RunningProcess<Down>['shared'] {
    return this.#process?.shared;
  }

  /** Sends a message to the process, if there is one. */
  say(message: Down): void {
    this.#process?.say(message);
  }

  /** Handles one input. Called only from the queue of inputs; see `post`. */
  step(input: InstanceInput): void {
    const before = this.#state;
    const { state, actions } = stepInstance(before, input, this.clock.elapsed(), this.policy());
    this.#state = state;
    this.stepped(before, input);
    for (const action of actions) this.#perform(action);
  }

  /** Kills the process without an action of the machine. The machine then gets the exit as an input. */
  protected kill(): void {
    this.#process?.kill();
  }

  /** Adds an input to the queue, so that no step runs inside another step. */
  protected abstract post(input: InstanceInput): void;
  /** Called at every step, because a reload may change the policy. */
  protected abstract policy(): SupervisionPolicy;
  /** Starts a process. May throw `E_PROCESS_START`. */
  protected abstract spawn(process: number, listener: ProcessListener<Up>): RunningProcess<Down>;
  /** Called after every step, before its actions are carried out. */
  protected abstract stepped(before: InstanceState, input: InstanceInput): void;
  protected abstract perform(action: OwnAction): void;
  protected abstract heard(process: number, message: Up): void;
  /** Called when the process has exited. */
  protected abstract lost(): void;
  /** Called when a message of this type could not be sent to the process, although the process is running. */
  protected abstract unsent(process: number, type: string, problem: string, thrown: unknown): void;
  protected abstract report(level: LogLevel, event: string, message: string): void;

  #perform(action: InstanceAction): void {
    switch (action.type) {
      case 'process.spawn':
        return this.#spawn(action.process);
      case 'process.drain': {
        const { graceMs, cleanUpMs, isUnhurried } = action;
        const cleanUp = cleanUpMs === undefined ? {} : { cleanUpMs: Math.round(cleanUpMs) };
        return this.#process?.say({
          type: 'drain',
          graceMs: Math.round(graceMs),
          ...cleanUp,
          ...defined({ isUnhurried }),
        });
      }
      case 'process.kill':
        return this.kill();
      case 'timer.set':
        return this.#timers.set(action.timer, action.at);
      case 'timer.clear':
        return this.#timers.clear(action.timer);
      default:
        return this.perform(action);
    }
  }

  #spawn(process: number): void {
    try {
      this.#process = this.spawn(process, this.#listenerFor(process));
    } catch (thrown) {
      const error = toFrameError(thrown, 'E_PROCESS_START');
      this.post({ type: 'start.failed', process, error });
      this.post({ type: 'exited', process, code: null, signal: null });
    }
  }

  #listenerFor(process: number): ProcessListener<Up> {
    return {
      message: (message) => this.heard(process, message),
      refused: (problem) => {
        this.report('error', 'frame.refused', `${problem} The process that sent it is killed.`);
        this.kill();
      },
      hung: (blocked) =>
        this.post({ type: 'heartbeat.missed', process, ...defined({ blocked }), ...this.#processId() }),
      exited: ({ code, signal, leftBehind, sharing, blocked }) => {
        if (leftBehind > 0) {
          this.report('warn', 'process.left_behind', `Ended ${leftBehind} processes that it had left behind.`);
        }
        const ended = { process, code, signal, ...defined({ sharing, blocked }), ...this.#processId() };
        this.#process = undefined;
        this.lost();
        this.post({ type: 'exited', ...ended });
      },
      cutOff: () => {
        this.report('error', 'process.cut_off', 'It closed its channel but kept running, and is killed.');
        this.kill();
      },
      unsent: (type, problem, thrown) => this.unsent(process, type, problem, thrown),
    };
  }

  #processId(): { readonly pid?: number } {
    return this.pid === undefined ? {} : { pid: this.pid };
  }
}
