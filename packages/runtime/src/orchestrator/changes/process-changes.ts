/**
 * Puts a change into the running processes of agents: asks every process to prepare the change, and when all are ready,
 * tells all to swap. If one of them fails, all drop the change. `change-round.ts` makes the decisions.
 *
 * Invariants:
 * 1. From the first message of a change until its swap or drop, no process of a changed agent starts. So no process
 *    begins with the old plan after the others were asked.
 * 2. Every asked process gets exactly one of `change.swap` and `change.drop`, unless it ended.
 * 3. An error while a process is asked fails the change. Starts continue, whatever fails.
 */
import type { AgentAddress } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import { addressKey } from '../address/address-key.ts';
import type { Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import type { AgentFrame, SwarmListener } from '../instances/swarm-listener.ts';
import { type ChangeRound, decisionOf, openRound, type RoundInput, stepRound } from './change-round.ts';

export interface ProcessChangesDeps {
  readonly clock: Clock;
  readonly instances: Instances;
  /** Returns the agent in the form that the process of this instance gets. */
  asRun(address: AgentAddress, agent: DeclaredAgent): DeclaredAgent;
  /** Called when the process of this instance runs the plan in force, and has nothing of another plan any more. */
  settled(address: AgentAddress): void;
}

/** A process that takes a change in place, and its agent in the wanted plan. */
export interface ChangingProcess {
  readonly instance: Instance;
  readonly agent: DeclaredAgent;
}

export interface ChangeBounds {
  /** The names of all agents that change in place, including those without a process. */
  readonly agents: ReadonlySet<string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A change that every process is ready for. Call one of the methods, once. */
export interface PreparedChange {
  /** Tells every process to swap. Starts of these agents continue. */
  swap(): void;
  /** Tells every process to drop the change. Starts of these agents continue. */
  drop(): void;
}

/** The failure of a process to prepare a change. All processes have dropped the change. */
export class ChangeFailure extends Error {
  override readonly name = 'ChangeFailure';
  constructor(
    readonly address: AgentAddress,
    readonly error: FrameError,
  ) {
    super(error.message);
  }
}

export class ProcessChanges implements SwarmListener {
  #change = 0;
  #round: ChangeRound = openRound([]);
  /** The change that each process was told to swap to and has not swapped to yet, by the key of its instance. */
  readonly #swapping = new Map<string, number>();
  /** The keys of the instances whose processes were asked to prepare a change and got neither swap nor drop yet. */
  #preparing: ReadonlySet<string> = new Set();

  constructor(private readonly deps: ProcessChangesDeps) {}

  heard(at: AgentAddress, frame: AgentFrame): void {
    if (frame.type === 'change.swapped') return this.#settle(at, frame.change);
    const instance = this.deps.instances.find(at);
    if (instance === undefined) return;
    const from = { key: instance.key, process: instance.state.spawned };
    switch (frame.type) {
      case 'change.ready':
        return frame.change === this.#change ? this.#step({ type: 'ready', ...from }) : undefined;
      case 'change.failed':
        return frame.change === this.#change ? this.#step({ type: 'failed', ...from, error: frame.error }) : undefined;
      case 'log': {
        const { event, message, place } = frame.line;
        if (event !== 'process.uncaught') return undefined;
        this.#round = stepRound(this.#round, { type: 'crashed', ...from, reason: defined({ message, place }) });
        return undefined;
      }
      // All other frames are handled elsewhere.
      default:
        return undefined;
    }
  }

  processGone(at: AgentAddress): void {
    this.#swapping.delete(addressKey(at));
    const instance = this.deps.instances.find(at);
    if (instance !== undefined) this.#round = stepRound(this.#round, phaseOf(instance, true));
  }

  /**
   * Prepares a change in these processes; one change at a time. **Errors** — `ChangeFailure`; the reason of `signal` when
   * the signal aborts. After an error no process keeps anything of the change.
   */
  async prepare(
    processes: readonly ChangingProcess[],
    { agents, timeoutMs, signal }: ChangeBounds,
  ): Promise<PreparedChange> {
    const { instances, clock } = this.deps;
    const change = (this.#change += 1);
    const resume = instances.pause(agents);
    this.#round = openRound(processes.map(({ instance: { key, state } }) => [key, state.spawned]));
    this.#preparing = new Set(this.#round.asked.keys());
    for (const each of processes) this.#ask(each, change);
    const callOff = clock.after(timeoutMs, () => this.#step({ type: 'late', timeoutMs }));
    const look = () => instances.waitsChanged();
    signal.addEventListener('abort', look, { once: true });
    await instances.until(() => signal.aborted || this.#decide(processes) !== undefined);
    callOff();
    signal.removeEventListener('abort', look);

    const round = this.#round;
    this.#round = openRound([]);
    const tell = (isWanted: boolean) => {
      this.#preparing = new Set();
      try {
        for (const { instance } of processes) {
          const asked = round.asked.get(instance.key);
          if (asked === undefined || instance.state.spawned !== asked.process) continue;
          const isSwapped = isWanted && asked.standing === 'ready';
          instance.say({ type: isSwapped ? 'change.swap' : 'change.drop', change });
          if (isSwapped) this.#swapping.set(instance.key, change);
          // A process that has still to swap to an earlier change settles when it has swapped.
          else if (!isWanted && !this.#swapping.has(instance.key)) this.deps.settled(instance.address);
        }
      } finally {
        resume();
      }
    };
    const { failure } = round;
    if (!signal.aborted && failure === undefined) return { swap: () => tell(true), drop: () => tell(false) };
    tell(false);
    signal.throwIfAborted();
    const failed = processes.find(({ instance }) => instance.key === failure?.key);
    if (failure === undefined || failed === undefined) throw new Error('a change failed without a failed process');
    throw new ChangeFailure(failed.instance.address, failure.error);
  }

  /** Asks a process to prepare the change (invariant 3). */
  #ask({ instance, agent }: ChangingProcess, change: number): void {
    try {
      instance.prepareChange(change, this.deps.asRun(instance.address, agent));
    } catch (thrown) {
      const error = toFrameError(thrown, 'E_PROCESS_START');
      this.#round = stepRound(this.#round, {
        type: 'failed',
        key: instance.key,
        process: instance.state.spawned,
        error,
      });
    }
  }

  #settle(at: AgentAddress, change: number): void {
    const key = addressKey(at);
    if (this.#swapping.get(key) !== change) return;
    this.#swapping.delete(key);
    // A process that also prepares another change settles after the swap or drop of that change.
    if (!this.#preparing.has(key)) this.deps.settled(at);
  }

  /** Looks at the phase of each process, because a process that is asked to end says nothing. */
  #decide(processes: readonly ChangingProcess[]) {
    for (const { instance } of processes) this.#round = stepRound(this.#round, phaseOf(instance, !instance.hasProcess));
    return decisionOf(this.#round);
  }

  #step(input: RoundInput): void {
    this.#round = stepRound(this.#round, input);
    this.deps.instances.waitsChanged();
  }
}

function phaseOf({ address, state }: Instance, hasExited: boolean): RoundInput {
  return { type: 'phase', key: addressKey(address), process: state.spawned, phase: state.phase, hasExited };
}
