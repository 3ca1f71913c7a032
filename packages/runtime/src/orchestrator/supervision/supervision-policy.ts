import { defaultRestartPolicy } from './backoff.ts';
import { defaultIdlePolicy } from './idle.ts';

/** The settings for supervising one instance. */
export const defaultSupervisionPolicy = {
  restart: defaultRestartPolicy,
  idle: defaultIdlePolicy,
  /** The number of processes that may die during the turn of one event; after that the event is a dead letter. */
  crashesBeforeDeadLetter: 3,
  /** The number of nodes that may end during the turn of one event; after that the event is a dead letter. */
  takeOversBeforeDeadLetter: 5,
  /** The time limit from the spawn of a process to `ready`. */
  startTimeoutMs: 60_000,
  /**
   * The number of failed starts in a row after which requests to the instance fail instead of waiting for the next
   * start.
   */
  startAttempts: 3,
  /** The grace for a process that hibernates. Such a process has no turn to finish, but its extensions clean up. */
  hibernateGraceMs: 10_000,
  /** True while the swarm stops; see invariant 16 of the machine. */
  isStopping: false,
};

export type SupervisionPolicy = Readonly<typeof defaultSupervisionPolicy>;
