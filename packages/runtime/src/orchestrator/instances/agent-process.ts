/**
 * One process of one agent instance, from its first frame to its last: what is said to it, what it says, and whether it
 * still answers. What it means is decided elsewhere (`supervision/`).
 */
import type { AgentStart } from '../../config/agent-start.ts';
import type { HeartbeatPolicy } from '../../config/swarm-policy.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChildExit, ChildProcess } from '../../ports/spawn.ts';
import { answerPing, beat, firstHeartbeat } from '../supervision/heartbeat.ts';

export type AgentChild = ChildProcess<ToAgent, FromAgent>;

/** Hears what happens, in order; `exited` comes once and last. None of them may throw. */
export interface AgentProcessListener {
  message(message: FromAgent): void;
  /** A frame that was not let in, and why, with its code. */
  refused(problem: string): void;
  /** It did not answer in time. */
  hung(): void;
  exited(exit: ChildExit): void;
  /** It closed its channel and lives on. */
  cutOff(): void;
  /** Something could not be said to it, although it lives. */
  unsayable(problem: string, thrown: unknown): void;
}

/** How long a process may live on when its channel is closed. */
const WITHOUT_CHANNEL_MS = 1_000;

export interface AgentProcess {
  readonly pid: number;
  say(message: ToAgent): void;
  /** SIGKILL to its whole group. */
  kill(): void;
}

export function runAgentProcess(
  child: AgentChild,
  start: AgentStart,
  { heartbeat: policy, clock }: { readonly heartbeat: HeartbeatPolicy; readonly clock: Clock },
  listener: AgentProcessListener,
): AgentProcess {
  const { channel } = child;
  let heartbeat = firstHeartbeat;
  let callOff = clock.after(policy.everyMs, look);
  let callOffKill: () => void = () => undefined;

  channel.onMessage((message) => {
    if (message.type === 'pong') heartbeat = answerPing(heartbeat, message.n);
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
  // A plan is JSON: whoever made it was checked.
  say({ type: 'start', plan: copyJsonObject(start, { omitUndefined: true }) });
  return { pid: child.pid, say, kill: () => void child.kill(0) };

  function say(message: ToAgent): void {
    channel.send(message).catch((error: unknown) => {
      // One that is gone needs no message: its end is told by `exited`.
      if (channel.isClosed) return;
      listener.unsayable(`${message.type}: ${error instanceof Error ? error.message : String(error)}`, error);
    });
  }

  function look(): void {
    const next = beat(heartbeat, policy);
    if (next.type === 'dead') return listener.hung();
    heartbeat = next.heartbeat;
    say({ type: 'ping', n: next.n });
    callOff = clock.after(policy.everyMs, look);
  }
}
