/**
 * Supervises one process of an agent, a connector or a keeper, from its first frame to its last: passes on its messages, and
 * checks whether it still answers. `SupervisedProcess` decides how to react.
 */
import type { JsonObject } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { KeeperStart } from '../../config/keeper-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildExit, ChildProcess } from '../../ipc/spawn.ts';
import { answerPing, beat, confirmTurn, firstHeartbeat, handOverTurn } from './heartbeat.ts';

/** Messages that every process understands. An agent process also confirms each `turn` with `turn.begun`. */
export type Upkeep =
  | { readonly type: 'start'; readonly plan: JsonObject }
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number; readonly isUnhurried?: true };

export interface Pong {
  readonly type: 'pong';
  readonly n: number;
}

/**
 * Receives everything that happens to the process, in order. `exited` is called once, as the last method. No method may
 * throw.
 */
export interface ProcessListener<Up> {
  /** Receives every message except answers to pings. */
  message(message: Up): void;
  /** Receives the code and the reason of a rejected frame. */
  refused(problem: string): void;
  /** Called when the process did not answer in time. `blocked`: the code in which it is blocked, in words. */
  hung(blocked?: string): void;
  exited(exit: ChildExit): void;
  /** Called when the process closed its channel but did not exit. */
  cutOff(): void;
  /** Called when a message of this type could not be sent, although the process is running. */
  unsent(type: string, problem: string, thrown: unknown): void;
}

/** The time in which a process must exit after its channel was closed. */
const WITHOUT_CHANNEL_MS = 1_000;

/**
 * The same after the process has said that it drained. Its work is done, and on a busy machine the exit alone may take
 * longer than a second.
 */
const AFTER_DRAINED_MS = 10_000;

export interface RunningProcess<Down> {
  readonly pid: number;
  /** The shared process in which it is a seat. */
  readonly shared?: NonNullable<ChildProcess<unknown, unknown>['shared']>;
  say(message: Down | Upkeep): void;
  /** Sends SIGKILL to the whole process group. */
  kill(): void;
}

/**
 * Supervises a process. `start`: the first message, which identifies the process. The heartbeat policy is read at every
 * beat.
 */
export function superviseProcess<Down extends { readonly type: string }, Up extends { readonly type: string }>(
  child: ChildProcess<Down | Upkeep, Up | Pong>,
  start: AgentStart | ConnectorStart | KeeperStart,
  { heartbeat: askPolicy, clock }: { readonly heartbeat: () => HeartbeatPolicy; readonly clock: Clock },
  listener: ProcessListener<Up>,
): RunningProcess<Down> {
  const { channel } = child;
  let heartbeat = firstHeartbeat;
  let callOff = clock.after(askPolicy().everyMs, look);
  let callOffKill: () => void = () => undefined;
  let hasDrained = false;

  channel.onMessage((message) => {
    if (isPong(message)) heartbeat = answerPing(heartbeat, message.n);
    else {
      hasDrained ||= message.type === 'drained';
      if (message.type === 'turn.begun') heartbeat = confirmTurn(heartbeat);
      listener.message(message);
    }
  });
  channel.onRefused(({ code, message }) => listener.refused(`${code}: ${message}`));
  // A process that exits also closes its channel. A process that keeps running without a channel cannot be reached.
  channel.onClose(() => {
    callOffKill = clock.after(hasDrained ? AFTER_DRAINED_MS : WITHOUT_CHANNEL_MS, () => listener.cutOff());
  });
  void child.exited.then((exit) => {
    callOff();
    callOffKill();
    listener.exited(exit);
  });
  // Safe: the plan was checked, so this is JSON.
  say({ type: 'start', plan: copyJsonObject(start, { omitUndefined: true }) });
  const { pid, shared } = child;
  return { pid, ...(shared === undefined ? {} : { shared }), say, kill: () => void child.kill(0) };

  function say(message: Down | Upkeep): void {
    if (message.type === 'turn') heartbeat = handOverTurn(heartbeat);
    channel.send(message).catch((error: unknown) => {
      // A process that has exited needs no message: `exited` reports its end.
      if (channel.isClosed) return;
      const { type } = message;
      listener.unsent(type, `${type}: ${messageOf(error)}`, error);
    });
  }

  function look(): void {
    const policy = askPolicy();
    const next = beat(heartbeat, policy);
    if (next.type === 'dead') return listener.hung(child.hung?.()?.words);
    heartbeat = next.heartbeat;
    say({ type: 'ping', n: next.n });
    callOff = clock.after(policy.everyMs, look);
  }
}

function isPong(message: { readonly type: string }): message is Pong {
  return message.type === 'pong';
}
