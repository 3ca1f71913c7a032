/** `Swarm.spec.policy`: the limits of a swarm, each with a default. The limits of a turn are in `turn-policy.ts`. */
import type { TurnPolicy } from './turn-policy.ts';

/** The largest valid `spares`. */
export const MOST_SPARES = 16;

export interface SwarmPolicy extends Partial<TurnPolicy> {
  /** The maximum number of agent processes at a time; idle ones hibernate to make room. */
  readonly maxProcesses?: number;
  /** The maximum number of kept connections at a time. */
  readonly maxKept?: number;
  readonly restart?: Partial<RestartPolicy>;
  /** When idle processes hibernate. With `null`, an idle process ends only to make room. */
  readonly idle?: { readonly hibernateAfterSeconds?: number | null };
  readonly heartbeat?: Partial<HeartbeatPolicy>;
  readonly shutdown?: { readonly gracePeriodSeconds?: number };
  /** The time that a process may take from its start until it is ready. */
  readonly startTimeoutMs?: number;
  /**
   * The number of processes started in advance, so that a first message does not wait for a process to start: 0 to 16.
   */
  readonly spares?: number;
  /** Changes that agents may make to the bundle of their own swarm; none when absent. */
  readonly changes?: ChangesPolicy;
}

export interface ChangesPolicy {
  /** Globs of files, relative to the bundle's folder. A changeset with another file is rejected. */
  readonly allow?: readonly string[];
  /** If false, no person is asked before a changeset is committed; true when absent. */
  readonly approve?: boolean;
}

export interface RestartPolicy {
  /** The number of crashes before a restart is delayed. */
  readonly quickCrashes: number;
  readonly baseMs: number;
  readonly maxMs: number;
  readonly healthyMs: number;
}

export interface HeartbeatPolicy {
  readonly everyMs: number;
  readonly missedPings: number;
}
