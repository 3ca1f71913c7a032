/**
 * One process, of an agent or of a connector, from its first frame to its last: its messages, and whether it still
 * answers. `SupervisedProcess` decides what follows from it.
 */
import type { JsonObject } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import type { ConnectorStart } from '../../config/connector-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildExit, ChildProcess } from '../../ipc/spawn.ts';
import { answerPing, beat, firstHeartbeat } from './heartbeat.ts';

/** Messages that every process understands. */
export type Upkeep =
  | { readonly type: 'start'; readonly plan: JsonObject }
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'drain'; readonly graceMs: number; readonly cleanUpMs?: number };

export interface Pong {
  readonly type: 'pong';
  readonly n: number;
}

/** Hears what happens, in order; `exited` comes once and last. None of them may throw. */
export interface ProcessListener<Up> {
  /** Every message but the answers to its pings. */
  message(message: Up): void;
  /** A frame that was not let in, and why, with its code. */
  refused(problem: string): void;
  /** It did not answer in time. */
  hung(): void;
  exited(exit: ChildExit): void;
  /** It closed its channel and lives on. */
  cutOff(): void;
  /** A message of this type could not be sent to it, although it lives. */
  unsent(type: string, problem: string, thrown: unknown): void;
}

/** How long a process may live on when its channel is closed. */
const WITHOUT_CHANNEL_MS = 1_000;

export interface RunningProcess<Down> {
  readonly pid: number;
  say(message: Down | Upkeep): void;
  /** SIGKILL to its whole group. */
  kill(): void;
}

/** `start` is the first message, and tells the process who it is. The heartbeat's policy is asked for at every beat. */
export function superviseProcess<Down extends { readonly type: string }, Up extends { readonly type: string }>(
  child: ChildProcess<Down | Upkeep, Up | Pong>,
  start: AgentStart | ConnectorStart,
  { heartbeat: askPolicy, clock }: { readonly heartbeat: () => HeartbeatPolicy; readonly clock: Clock },
  listener: ProcessListener<Up>,
): RunningProcess<Down> {
  const { channel } = child;
  let heartbeat = firstHeartbeat;
  let callOff = clock.after(askPolicy().everyMs, look);
  let callOffKill: () => void = () => undefined;

  channel.onMessage((message) => {
    if (isPong(message)) heartbeat = answerPing(heartbeat, message.n);
    else listener.message(message);
  });
  channel.onRefused(({ code, message }) => listener.refused(`${code}: ${message}`));
  // A process that ends closes its channel on the way. One that lives on without it can neither be told nor heard.
  channel.onClose(() => {
    callOffKill = clock.after(WITHOUT_CHANNEL_MS, () => listener.cutOff());
  });
  void child.exited.then((exit) => {
    callOff();
    callOffKill();
    listener.exited(exit);
  });
  // It is JSON: the plan it was made from was checked.
  say({ type: 'start', plan: copyJsonObject(start, { omitUndefined: true }) });
  return { pid: child.pid, say, kill: () => void child.kill(0) };

  function say(message: Down | Upkeep): void {
    channel.send(message).catch((error: unknown) => {
      // One that is gone needs no message: its end is told by `exited`.
      if (channel.isClosed) return;
      const { type } = message;
      listener.unsent(type, `${type}: ${error instanceof Error ? error.message : String(error)}`, error);
    });
  }

  function look(): void {
    const policy = askPolicy();
    const next = beat(heartbeat, policy);
    if (next.type === 'dead') return listener.hung();
    heartbeat = next.heartbeat;
    say({ type: 'ping', n: next.n });
    callOff = clock.after(policy.everyMs, look);
  }
}

function isPong(message: { readonly type: string }): message is Pong {
  return message.type === 'pong';
}
