/** `Swarm.spec.policy`: the limits of a swarm, each with a default. Those of a turn are in `turn-policy.ts`. */
import type { TurnPolicy } from './turn-policy.ts';

export interface SwarmPolicy extends Partial<TurnPolicy> {
  /** Agent processes at a time; idle ones hibernate to make room. */
  readonly maxProcesses?: number;
  readonly restart?: Partial<RestartPolicy>;
  /** `null`: never for being idle, only to make room. */
  readonly idle?: { readonly hibernateAfterSeconds?: number | null };
  readonly heartbeat?: Partial<HeartbeatPolicy>;
  readonly shutdown?: { readonly gracePeriodSeconds?: number };
  /** From the start of a process to its readiness. */
  readonly startTimeoutMs?: number;
  /** Processes that are started ahead of time, so that a first message does not wait for one: 0 or 1. */
  readonly spares?: number;
}

export interface RestartPolicy {
  /** Crashes after which a restart waits. */
  readonly quickCrashes: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly healthyMs: number;
}

export interface IdlePolicy {
  /** `undefined`: never for being idle, only to make room. */
  readonly hibernateAfterSeconds: number | undefined;
}

export interface HeartbeatPolicy {
  readonly everyMs: number;
  readonly missedPings: number;
}
