/**
 * Keeps one connection's process alive: does what `stepConnection` says, and tells it what happens. Decides nothing.
 *
 * Events are accepted from the first message of a process to the last, whatever the connection is in: also while it
 * starts, and while it drains.
 */
import { GoondanError, type JsonObject } from '@goondan/types';
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import { connectorLanguage } from '../../ipc/codec.ts';
import { type AnswerAsk, answerConnectorAsks } from '../../ipc/connector-asks.ts';
import { acceptConnectorEvents, type EmitConnectorEvent } from '../../ipc/connector-events.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput, ChildProcess, Spawn } from '../../ports/spawn.ts';
import type { ConnectionStatus } from '../../control/swarm-control.ts';
import { maskOutput } from '../child/mask-output.ts';
import { NamedTimers } from '../named-timers.ts';
import { routedAgents } from '../ingress/routed-agents.ts';
import { acceptHeard, askHeard, type Ingress } from './accept-heard.ts';
import { stepConnection } from './connection-machine.ts';
import {
  type ConnectionAction,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionState,
  type ConnectionTimer,
  newConnection,
} from './connection-state.ts';
import { connectionStatus } from './connection-status.ts';

export interface ConnectionPorts {
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** The program of a connector's process. */
  readonly runner: string;
  /** A folder for the long messages of this connection; no other process uses it. */
  readonly frameFolderFor: (connection: string) => string;
  /** Makes the folder that the connection's process works in, if it is not there yet. */
  readonly makeWorkFolder: (connection: string) => string;
}

/** None of these may throw. */
export interface ConnectionListeners {
  /** What a connector logs, and what happens to it. */
  readonly report: (line: LogLine) => void;
  /** What a connector prints, secrets masked. */
  readonly onOutput: (connection: string, output: ChildOutput) => void;
}

export interface ConnectionHost extends ConnectionPorts, ConnectionListeners {
  readonly ingress: Ingress;
  readonly policy: ConnectionPolicy;
}

export class KeptConnection {
  readonly #plan: ConnectionPlan;
  readonly #host: ConnectionHost;
  readonly #accept: EmitConnectorEvent;
  readonly #answer: AnswerAsk;
  readonly #timers: NamedTimers<ConnectionTimer>;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #inputs: ConnectionInput[] = [];
  #isStepping = false;
  #state: ConnectionState = newConnection;
  #child: ChildProcess<ToConnector, FromConnector> | undefined;
  /** The process has said in the log why it fails. */
  #hasTold = false;
  #refusals = { toldAt: -Infinity, untold: 0 };

  constructor(plan: ConnectionPlan, host: ConnectionHost) {
    this.#plan = plan;
    this.#host = host;
    const accept = acceptHeard(plan, host.ingress);
    this.#accept = (id, event) => accept(id, event).catch((error: unknown) => this.#refuse(event.name, error));
    this.#answer = this.#tellRefusals(askHeard(plan, host.ingress));
    this.#timers = new NamedTimers(host.clock, (timer) => this.#take({ type: 'timer', timer }));
  }

  start(): void {
    this.#take({ type: 'start' });
  }

  /** Resolves when no process is left; there will be none any more. */
  drain(graceMs: number): Promise<void> {
    this.#take({ type: 'drain', graceMs: Math.ceil(graceMs) });
    return this.#stopped.promise;
  }

  status(): ConnectionStatus {
    const { clock, policy } = this.#host;
    const pid = this.#child?.pid;
    return {
      connection: this.#plan.connection,
      ...connectionStatus(this.#state, clock.elapsed(), policy),
      ...(pid === undefined ? {} : { pid }),
    };
  }

  /** One after the other: an action may bring the next input at once. */
  #take(input: ConnectionInput): void {
    this.#inputs.push(input);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
        const { state, actions } = stepConnection(this.#state, next, this.#host.clock.elapsed(), this.#host.policy);
        this.#state = state;
        for (const action of actions) this.#act(action);
      }
    } finally {
      this.#isStepping = false;
    }
    if (this.#state.phase.name === 'stopped') this.#stopped.resolve();
  }

  #act(action: ConnectionAction): void {
    switch (action.type) {
      case 'process.spawn':
        return this.#spawn(action.process);
      case 'process.ping':
        return this.#tell({ type: 'ping', n: action.n });
      case 'process.drain':
        return this.#tell({ type: 'drain', graceMs: action.graceMs });
      case 'process.kill':
        return void this.#child?.kill(0);
      case 'timer.set':
        return this.#timers.set(action.timer, action.at);
      case 'timer.clear':
        return this.#timers.clear(action.timer);
      case 'report':
        return this.#report(action);
    }
  }

  #spawn(process: number): void {
    this.#hasTold = false;
    try {
      this.#child = this.#startChild();
    } catch (error) {
      this.#take({ type: 'failed', process, error: toFrameError(error, 'E_PROCESS_START') });
      return this.#take({ type: 'exited', process, code: null, signal: null });
    }
    const { channel, exited } = this.#child;
    acceptConnectorEvents(channel, this.#accept);
    answerConnectorAsks(channel, this.#answer);
    channel.onMessage((message) => this.#hear(process, message));
    channel.onRefused(({ code, message }) =>
      this.#report({ level: 'warn', event: 'frame.refused', message: `${code}: ${message}` }),
    );
    void exited.then(({ code, signal }) => {
      this.#child = undefined;
      this.#take({ type: 'exited', process, code, signal });
    });
    channel
      .send({ type: 'start', plan: toStart(this.#plan, this.#host.ingress.entryAgent()) })
      .catch((error: unknown) => {
        // Its end is told by itself.
        if (error instanceof GoondanError && error.code === 'E_IPC_CLOSED') return;
        this.#take({ type: 'failed', process, error: toFrameError(error, 'E_CONNECTOR_START') });
      });
  }

  #startChild(): ChildProcess<ToConnector, FromConnector> {
    const { spawn, runner, frameFolderFor, makeWorkFolder, onOutput } = this.#host;
    const { connection, environment, secrets, masked = [] } = this.#plan;
    const mask = maskSecrets([...Object.values(secrets), ...masked]);
    return spawn(connectorLanguage, {
      name: `connection ${connection}`,
      runner,
      frameFolder: frameFolderFor(connection),
      args: [makeWorkFolder(connection)],
      ...(environment === undefined ? {} : { environment }),
      onOutput: (output) => onOutput(connection, maskOutput(output, mask)),
    });
  }

  #hear(process: number, message: FromConnector): void {
    switch (message.type) {
      case 'ready':
        return this.#take({ type: 'ready', process });
      case 'failed':
        return this.#take({ type: 'failed', process, error: message.error, isTold: this.#hasTold });
      case 'pong':
        return this.#take({ type: 'pong', process, n: message.n });
      case 'log':
        this.#hasTold ||= message.line.event === 'connector.failed';
        return this.#relay(message.line);
      case 'dropped': {
        const text = `${message.counts.log} lines of its log were let go: there were too many at once.`;
        return this.#report({ level: 'warn', event: 'log.dropped', message: text });
      }
      // Accepted elsewhere; and its end is told by itself.
      case 'connector.event':
      case 'connector.ask':
      case 'ask.left':
      case 'drained':
    }
  }

  /** Whose line it is, the channel says. */
  #relay({ agent: _agent, instance: _instance, ...line }: LogLine): void {
    this.#host.report({ ...line, connection: this.#plan.connection });
  }

  #report({ level, event, message }: Required<Pick<LogLine, 'level' | 'event' | 'message'>>): void {
    const time = this.#host.clock.now().toISOString();
    this.#host.report({ time, level, message, connection: this.#plan.connection, event });
  }

  /** What was accepted is not refused, however its turn ends. */
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

  /** Told to the connector always, to the log once a second: anybody outside may cause it. */
  #refuse(name: string, error: unknown): never {
    const now = this.#host.clock.elapsed();
    const { toldAt, untold } = this.#refusals;
    if (now - toldAt < REFUSALS_TOLD_EVERY_MS) {
      this.#refusals = { toldAt, untold: untold + 1 };
      throw error;
    }
    this.#refusals = { toldAt: now, untold: 0 };
    const { code, message } = toFrameError(error, 'E_EVENT_INVALID');
    const more = untold === 0 ? '' : ` (and ${untold} events before it)`;
    const text = `The event "${name}" was not accepted: ${code}: ${message}${more}`;
    this.#report({ level: 'warn', event: 'event.refused', message: text });
    throw error;
  }

  #tell(message: ToConnector): void {
    // It fails when the process is gone or reads nothing: the one is told by its end, the other by its heartbeat.
    this.#child?.channel.send(message).catch(() => undefined);
  }
}

const REFUSALS_TOLD_EVERY_MS = 1_000;

/** What its process needs to know. */
export function toStart({ rules, environment: _environment, ...plan }: ConnectionPlan, entryAgent: string): JsonObject {
  const start: ConnectorStart = { ...plan, agents: routedAgents(rules, entryAgent) };
  // A plan is JSON.
  return start as unknown as JsonObject;
}
