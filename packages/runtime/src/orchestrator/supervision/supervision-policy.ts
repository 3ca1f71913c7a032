import type { IdlePolicy, RestartPolicy } from '../../config/swarm-policy.ts';
import { defaultRestartPolicy } from './backoff.ts';
import { defaultIdlePolicy } from './idle.ts';

/** The numbers of one instance's supervision. */
export interface SupervisionPolicy {
  readonly restart: RestartPolicy;
  readonly idle: IdlePolicy;
  /** Processes that may die during the turn of one event; then the event is a dead letter. */
  readonly crashesBeforeDeadLetter: number;
  /** The time from the spawn to `ready`. */
  readonly startTimeoutMs: number;
  /** Failed starts in a row after which requests to the instance fail instead of waiting for the next start. */
  readonly startAttempts: number;
  /** For a process that hibernates: it has no turn, but extensions to clean up. */
  readonly hibernateGraceMs: number;
}

export const defaultSupervisionPolicy: SupervisionPolicy = {
  restart: defaultRestartPolicy,
  idle: defaultIdlePolicy,
  crashesBeforeDeadLetter: 3,
  startTimeoutMs: 60_000,
  startAttempts: 3,
  hibernateGraceMs: 10_000,
};
