import { defaultRestartPolicy } from './backoff.ts';
import { defaultIdlePolicy } from './idle.ts';

/** The numbers of one instance's supervision. */
export const defaultSupervisionPolicy = {
  restart: defaultRestartPolicy,
  idle: defaultIdlePolicy,
  /** Processes that may die during the turn of one event; then the event is a dead letter. */
  crashesBeforeDeadLetter: 3,
  /** The time from the spawn to `ready`. */
  startTimeoutMs: 60_000,
  /** Failed starts in a row after which requests to the instance fail instead of waiting for the next start. */
  startAttempts: 3,
  /** For a process that hibernates: it has no turn, but extensions to clean up. */
  hibernateGraceMs: 10_000,
};

export type SupervisionPolicy = Readonly<typeof defaultSupervisionPolicy>;
