/** What the orchestrator knows about one connection's process, what can happen to it, and what is to be done. */
import type { HeartbeatPolicy, RestartPolicy } from '../../config/swarm-policy.ts';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { defaultRestartPolicy, noCrashes, type RestartHistory } from '../supervision/backoff.ts';
import { defaultHeartbeatPolicy, firstHeartbeat, type Heartbeat } from '../supervision/heartbeat.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';

/** Every number of one connection's supervision. */
export interface ConnectionPolicy {
  readonly restart: RestartPolicy;
  readonly heartbeat: HeartbeatPolicy;
  /** From the spawn to `ready`. */
  readonly startTimeoutMs: number;
}

export const defaultConnectionPolicy: ConnectionPolicy = {
  restart: defaultRestartPolicy,
  heartbeat: defaultHeartbeatPolicy,
  startTimeoutMs: defaultSupervisionPolicy.startTimeoutMs,
};

/** Times are on the clock that only grows. */
export type ConnectionPhase =
  /** Nobody has asked for it yet. */
  | { readonly name: 'new' }
  /** No start before `until`. */
  | { readonly name: 'waiting'; readonly until: number }
  | { readonly name: 'starting'; readonly deadline: number }
  | { readonly name: 'listening'; readonly since: number }
  /** Asked to go, until `deadline`. */
  | { readonly name: 'draining'; readonly deadline: number }
  /** Killed, but not gone yet: because it failed, or because nobody wants it any more. */
  | { readonly name: 'killed'; readonly afterwards: 'restart' | 'stop'; readonly listenedSince?: number }
  | { readonly name: 'stopped' };

export interface ConnectionState {
  readonly phase: ConnectionPhase;
  readonly restarts: RestartHistory;
  readonly heartbeat: Heartbeat;
  /** Why the last process that failed did. */
  readonly problem?: FrameError;
  /** Processes so far; the number of the newest. */
  readonly spawned: number;
}

export const newConnection: ConnectionState = {
  phase: { name: 'new' },
  restarts: noCrashes,
  heartbeat: firstHeartbeat,
  spawned: 0,
};

export type ConnectionTimer = 'backoff' | 'start' | 'beat' | 'grace';

/** `process` is the number its `process.spawn` gave it: what an earlier one says is not heard. */
export type ConnectionInput =
  | { readonly type: 'start' }
  /** For good. A second one may shorten the grace, never lengthen it. */
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'timer'; readonly timer: ConnectionTimer }
  | { readonly type: 'ready'; readonly process: number }
  /** Also when the spawn itself failed; followed by `exited`. `isTold`: the connector's own line in the log says why. */
  | { readonly type: 'failed'; readonly process: number; readonly error: FrameError; readonly isTold?: boolean }
  | { readonly type: 'pong'; readonly process: number; readonly n: number }
  /** Both null when there never was a process. */
  | { readonly type: 'exited'; readonly process: number; readonly code: number | null; readonly signal: string | null };

export type ConnectionAction =
  | { readonly type: 'process.spawn'; readonly process: number }
  | { readonly type: 'process.ping'; readonly n: number }
  | { readonly type: 'process.drain'; readonly graceMs: number }
  /** SIGKILL to its whole group. */
  | { readonly type: 'process.kill' }
  | { readonly type: 'timer.set'; readonly timer: ConnectionTimer; readonly at: number }
  | { readonly type: 'timer.clear'; readonly timer: ConnectionTimer }
  | {
      readonly type: 'report';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: 'connection.listening' | 'connection.failed' | 'connection.exited' | 'connection.stopped';
      readonly message: string;
    };

export interface ConnectionStep {
  readonly state: ConnectionState;
  /** In this order. */
  readonly actions: readonly ConnectionAction[];
}
