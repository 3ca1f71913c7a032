/**
 * One connection: a supervised process that is kept running from `start` to `drain`. The state machine makes all
 * decisions.
 *
 * Events are accepted from the first message of a process to the last, also while the process starts or drains.
 */
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import type { ConnectionStatus } from '../../control/swarm.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import { connectorLanguage } from '../../ipc/codec.ts';
import { type AnswerAsk, answerConnectorAsks } from '../../ipc/connector-asks.ts';
import { storeUploads } from '../../ipc/connector-files.ts';
import { type QuestionDoor, serveQuestions } from '../../ipc/connector-questions.ts';
import { acceptConnectorEvents, type EmitConnectorEvent } from '../../ipc/connector-events.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLevel, LogLine } from '../../ports/log-line.ts';
import type { ChildOutput, Spawn } from '../../ipc/spawn.ts';
import { maskOutput } from '../child/child-output.ts';
import { routedAgents } from '../ingress/route-event.ts';
import type { InstanceInput, InstanceState } from '../supervision/instance-state.ts';
import { KeptProcess } from '../supervision/kept-process.ts';
import { type ProcessListener, type RunningProcess, superviseProcess } from '../supervision/supervise-process.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';
import { acceptHeard, askHeard, type Ingress } from './accept-heard.ts';
import { checkUploaded } from './check-uploaded.ts';
import { connectionStatus, tellStep } from './describe-connection.ts';

export interface ConnectionDeps {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** The path of the program of a connector process. */
  readonly runner: string;
  /** Returns a folder for the long messages of this connection. No other process may use the folder. */
  readonly frameFolderFor: (connection: string) => string;
  /** Returns the working folder of the connection's process; creates it if it does not exist. */
  readonly makeWorkFolder: (connection: string) => string;
  readonly ingress: Ingress;
  /** Returns the questions that this connection may show and answer. */
  readonly questions: (plan: ConnectionPlan) => QuestionDoor;
  /** Receives the log lines of a connector, and lines about it. Must not throw. */
  readonly report: (line: LogLine) => void;
  /** Receives the output of a connector, with secrets masked. Must not throw. */
  readonly onOutput: (connection: string, output: ChildOutput) => void;
  /** Called at every step of the state machine, because the policy may change. */
  readonly policy: () => SupervisionPolicy & { readonly heartbeat: HeartbeatPolicy };
}

export class KeptConnection extends KeptProcess<ToConnector, FromConnector> {
  readonly #plan: ConnectionPlan;
  readonly #deps: ConnectionDeps;
  readonly #accept: EmitConnectorEvent;
  readonly #answer: AnswerAsk;
  /** The error of the last process that failed. */
  #problem: FrameError | undefined;
  /** True when the process has already logged its own failure. */
  #hasTold = false;
  #refusals = { toldAt: -Infinity, untold: 0 };

  constructor(plan: ConnectionPlan, deps: ConnectionDeps) {
    super(deps.clock);
    this.#plan = plan;
    this.#deps = deps;
    const accept = acceptHeard(plan, deps.ingress);
    this.#accept = (id, event) => accept(id, event).catch((error: unknown) => this.#refuse(event.name, error));
    this.#answer = this.#tellRefusals(askHeard(plan, deps.ingress));
  }

  status(): ConnectionStatus {
    const { clock, policy } = this.#deps;
    const { pid } = this;
    return {
      connection: this.#plan.connection,
      ...connectionStatus(this.state, this.#problem, clock.elapsed(), policy()),
      ...(pid === undefined ? {} : { pid }),
    };
  }

  protected override policy(): SupervisionPolicy {
    return this.#deps.policy();
  }

  protected override spawn(_process: number, listener: ProcessListener<FromConnector>): RunningProcess<ToConnector> {
    this.#hasTold = false;
    const { spawn, runner, frameFolderFor, makeWorkFolder, onOutput, clock, ingress, questions } = this.#deps;
    const { connection, environment, secrets, masked = [] } = this.#plan;
    const mask = maskSecrets([...Object.values(secrets), ...masked]);
    const child = spawn(connectorLanguage, {
      name: `connection ${connection}`,
      runner,
      frameFolder: frameFolderFor(connection),
      args: [makeWorkFolder(connection)],
      ...(environment === undefined ? {} : { environment }),
      onOutput: (output) => onOutput(connection, maskOutput(output, mask)),
    });
    const uploads = storeUploads(child.channel, ingress.uploads, () => ingress.maxFileBytes());
    acceptConnectorEvents(child.channel, async (id, event) => {
      checkUploaded(event, uploads);
      await this.#accept(id, event);
    });
    answerConnectorAsks(child.channel, async (id, event, options) => {
      checkUploaded(event, uploads);
      return this.#answer(id, event, options);
    });
    serveQuestions(child.channel, questions(this.#plan));
    const start = toStart(this.#plan, ingress.entryAgent());
    const heartbeat = () => this.#deps.policy().heartbeat;
    return superviseProcess<ToConnector, FromConnector>(child, start, { heartbeat, clock }, listener);
  }

  protected override stepped(before: InstanceState, input: InstanceInput): void {
    const { clock, policy } = this.#deps;
    const told = tellStep({ before, input, after: this.state, now: clock.elapsed(), policy: policy(), pid: this.pid });
    if (told === undefined) return;
    const { problem, level, event, message } = told;
    this.#problem = problem ?? this.#problem;
    // The process has already logged the reason itself.
    const isRepeated = input.type === 'start.failed' && this.#hasTold;
    this.report(isRepeated ? 'info' : level, event, message);
  }

  protected override heard(process: number, message: FromConnector): void {
    switch (message.type) {
      case 'ready':
        return this.post({ type: 'ready', process });
      case 'failed':
        return this.post({ type: 'start.failed', process, error: message.error });
      case 'log': {
        // The channel determines the connection, whatever the line says.
        const { agent: _agent, instance: _instance, ...line } = message.line;
        this.#hasTold ||= line.event === 'connector.failed';
        return this.#deps.report({ ...line, connection: this.#plan.connection });
      }
      case 'dropped': {
        const text = `${message.counts.log} lines of its log were dropped: there were too many at once.`;
        return this.report('warn', 'log.dropped', text);
      }
      // These messages are handled elsewhere.
      case 'connector.event':
      case 'connector.ask':
      case 'ask.left':
      case 'question.answer':
      case 'file.put':
      case 'file.release':
      case 'pong':
      case 'drained':
    }
  }

  /**
   * Fails the start of a process that did not get its start message. Other lost messages need no action, because the
   * heartbeat detects a process that no longer reads.
   */
  protected override unsent(process: number, type: string, _problem: string, thrown: unknown): void {
    if (type !== 'start') return;
    this.post({ type: 'start.failed', process, error: toFrameError(thrown, 'E_CONNECTOR_START') });
  }

  protected override report(level: LogLevel, event: string, message: string): void {
    const time = this.#deps.clock.now().toISOString();
    this.#deps.report({ time, level, message, connection: this.#plan.connection, event });
  }

  /** Logs rejected asks only. An accepted ask is not a rejection, however its turn ends. */
  #tellRefusals(answer: AnswerAsk): AnswerAsk {
    return async (id, event, options) => {
      let isAccepted = false;
      const onAccepted: typeof options.onAccepted = (acceptance) => {
        isAccepted = true;
        options.onAccepted(acceptance);
      };
      try {
        return await answer(id, event, { ...options, onAccepted });
      } catch (error) {
        if (isAccepted || options.left.aborted) throw error;
        return this.#refuse(event.name, error);
      }
    };
  }

  /**
   * Throws the rejection to the connector every time, but logs it at most once a second, because any sender outside may
   * cause it.
   */
  #refuse(name: string, error: unknown): never {
    const now = this.#deps.clock.elapsed();
    const { toldAt, untold } = this.#refusals;
    if (now - toldAt < REFUSALS_TOLD_EVERY_MS) {
      this.#refusals = { toldAt, untold: untold + 1 };
      throw error;
    }
    this.#refusals = { toldAt: now, untold: 0 };
    const { code, message } = toFrameError(error, 'E_EVENT_INVALID');
    const more = untold === 0 ? '' : ` (and ${untold} events before it)`;
    const text = `The event "${name}" was not accepted: ${code}: ${message}${more}`;
    this.report('warn', 'event.refused', text);
    throw error;
  }
}

const REFUSALS_TOLD_EVERY_MS = 1_000;

/** Returns the start message for the connection's process. */
export function toStart(plan: ConnectionPlan, entryAgent: string): ConnectorStart {
  const { rules, environment: _, placement: __, ...start } = plan;
  return { ...start, agents: routedAgents(rules, entryAgent) };
}
