/**
 * One keeper: a supervised process that holds a connection of an extension, from `start` to `drain`. The state machine
 * makes all decisions. A keeper that dies is started again, and listens at the same socket.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ExtensionStatus } from '@goondan/types';
import type { KeeperStart } from '../../config/keeper-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import type { KeptStatus } from '../../control/swarm.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import { keeperLanguage } from '../../ipc/codec.ts';
import type { FromKeeper } from '../../ipc/from-keeper.ts';
import type { Spawn } from '../../ipc/spawn.ts';
import type { ToKeeper } from '../../ipc/to-keeper.ts';
import { defined } from '../../json/defined.ts';
import { boundExtensionStatus } from '../../log/bound-extension-status.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import { lineOfOutput, maskOutput } from '../child/child-output.ts';
import { keptStatus, type KeptWords, tellKeptStep } from '../supervision/describe-kept-process.ts';
import type { InstanceInput, InstanceState } from '../supervision/instance-state.ts';
import { KeptProcess } from '../supervision/kept-process.ts';
import { type ProcessListener, type RunningProcess, superviseProcess } from '../supervision/supervise-process.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';

export interface KeeperDeps {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** The path of the program of a keeper process. */
  readonly runner: string;
  /** Returns a folder for long messages. No other process may use the folder. */
  readonly newFrameFolder: () => string;
  /** Receives log lines, with secrets masked. Must not throw. */
  readonly log: (line: LogLine) => void;
  /** Masks the secrets of the agent. A reload may bring other secrets than those that the process knows. */
  readonly mask: Mask;
  /** Called at every step of the state machine, because the policy may change. */
  readonly policy: () => SupervisionPolicy & { readonly heartbeat: HeartbeatPolicy };
}

/** What a keeper keeps, and for which agent. */
export interface KeeperPlan {
  readonly start: KeeperStart;
  /** The instance that the keeper belongs to; absent when all instances of the agent share it. */
  readonly instanceKey?: string;
  /** The environment of the agent's processes. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A hash of everything whose change ends the connection. */
  readonly digest: string;
}

/** The properties of an agent that may change while a connection stays open. */
export interface KeeperSurroundings extends Pick<KeeperPlan, 'environment'> {
  readonly workdir: string;
  readonly secrets: readonly string[];
}

const keeperWords: KeptWords = {
  kind: 'keeper',
  program: 'The keeper',
  startCode: 'E_MCP_CONNECT',
  endCode: 'E_MCP_CONNECT',
};

export class Keeper extends KeptProcess<ToKeeper, FromKeeper> {
  /** The keys of the instances whose processes were told the socket of this keeper. */
  readonly users = new Set<string>();
  /** The error of the last process that failed. */
  #problem: FrameError | undefined;
  /** The state of the kept connection, as the process last reported it. */
  #server: (ExtensionStatus & { readonly since: string }) | undefined;

  #plan: KeeperPlan;
  #endReason = '';

  constructor(
    plan: KeeperPlan,
    private readonly deps: KeeperDeps,
  ) {
    super(deps.clock);
    this.#plan = plan;
  }

  get plan(): KeeperPlan {
    return this.#plan;
  }

  /** Tells the process another environment or working folder of the agent. The connection stays open. */
  move({ environment = {}, workdir, secrets }: KeeperSurroundings): void {
    const { start, environment: before = {} } = this.#plan;
    if (isDeepStrictEqual([environment, workdir], [before, start.workdir])) return;
    this.#plan = { ...this.#plan, start: { ...start, workdir, secrets }, environment };
    const unset = Object.keys(before).filter((name) => !Object.hasOwn(environment, name));
    this.say({ type: 'surroundings', environment: { ...environment }, unset, workdir, secrets });
  }

  /** Ends the process, and logs the reason. Resolves when the process has exited. */
  end(graceMs: number, reason: string): Promise<void> {
    this.#endReason = reason;
    return this.drain(graceMs);
  }

  status(): KeptStatus {
    const { clock, policy } = this.deps;
    const { start, instanceKey } = this.plan;
    // A connected server shows that the problem is over.
    const problem = this.#server?.state === 'connected' ? undefined : this.#problem;
    return defined({
      agent: start.agentName,
      extension: start.extension,
      instanceKey,
      ...keptStatus(this.state, problem, clock.elapsed(), policy()),
      pid: this.pid,
      server: this.#server,
    });
  }

  protected override policy(): SupervisionPolicy {
    return this.deps.policy();
  }

  protected override spawn(_process: number, listener: ProcessListener<FromKeeper>): RunningProcess<ToKeeper> {
    const { spawn, runner, newFrameFolder, clock, log, mask, policy } = this.deps;
    const { start, environment } = this.plan;
    const child = spawn(keeperLanguage, {
      name: `the keeper of ${start.extension} of agent ${start.agentName}`,
      runner,
      frameFolder: newFrameFolder(),
      ...(environment === undefined ? {} : { environment }),
      onOutput: (output) => log(lineOfOutput(maskOutput(output, mask), this.#whose(), clock.now())),
    });
    return superviseProcess<ToKeeper, FromKeeper>(
      child,
      start,
      { heartbeat: () => policy().heartbeat, clock },
      listener,
    );
  }

  protected override stepped(before: InstanceState, input: InstanceInput): void {
    const { clock, policy } = this.deps;
    const step = { before, input, after: this.state, now: clock.elapsed(), policy: policy(), pid: this.pid };
    const told = tellKeptStep(step, keeperWords);
    if (told === undefined) return;
    const { problem, level, event, message } = told;
    this.#problem = problem ?? this.#problem;
    const isEnd = event === 'keeper.stopped' && this.#endReason !== '';
    this.report(level, event, isEnd ? `${message} The reason: ${this.#endReason}.` : message);
  }

  protected override heard(process: number, message: FromKeeper): void {
    switch (message.type) {
      case 'ready':
        return this.post({ type: 'ready', process });
      case 'failed':
        return this.post({ type: 'start.failed', process, error: this.#maskError(message.error) });
      case 'status':
        return this.#takeStatus(boundExtensionStatus(message.status, this.deps.mask));
      case 'log':
        // The channel determines the agent, whatever the line says.
        return this.deps.log({
          ...message.line,
          message: this.deps.mask(message.line.message),
          ...this.#whose(),
          extension: this.plan.start.extension,
        });
      case 'dropped': {
        const text = `${message.counts.log} lines of its log were dropped: there were too many at once.`;
        return this.report('warn', 'log.dropped', text);
      }
      // These messages are handled elsewhere.
      case 'pong':
      case 'drained':
    }
  }

  protected override lost(): void {
    this.#server = undefined;
  }

  /** Fails the start of a process that did not get its start message. The heartbeat detects everything else. */
  protected override unsent(process: number, type: string, _problem: string, thrown: unknown): void {
    if (type !== 'start') return;
    this.post({ type: 'start.failed', process, error: toFrameError(thrown, 'E_MCP_CONNECT') });
  }

  protected override report(level: LogLevel, event: string, message: string): void {
    const time = this.deps.clock.now().toISOString();
    this.deps.log({ time, level, message, ...this.#whose(), extension: this.plan.start.extension, event });
  }

  #takeStatus(status: ExtensionStatus): void {
    const before = this.#server;
    const since = before?.state === status.state ? before.since : this.deps.clock.now().toISOString();
    this.#server = { ...status, since };
    const { state, lost = 0, problem } = status;
    if (state !== 'connected' || before?.state === 'connected' || lost === 0) return;
    const reason =
      problem === undefined
        ? ''
        : ` It was lost ${lost === 1 ? 'once' : `${lost} times`}, the last time because: ${problem}`;
    this.report('warn', 'keeper.server_restarted', `The kept server was started again.${reason}`);
  }

  #maskError({ code, message }: FrameError): FrameError {
    return { code, message: this.deps.mask(message) };
  }

  #whose(): Pick<LogLine, 'agent' | 'instance'> {
    const { start, instanceKey } = this.plan;
    return { agent: start.agentName, ...(instanceKey === undefined ? {} : { instance: instanceKey }) };
  }
}
