/** Every bound of the files of an instance; what happens at it is said where it is checked. */
export interface StoreLimits {
  /** Events accepted and not yet handled; more are refused with `E_INBOX_FULL`. */
  readonly inboxEvents: number;
  /** The same in bytes. */
  readonly inboxBytes: number;
  /** From this size on, handled events are taken out of the inbox file. */
  readonly inboxCompactionBytes: number;
  /** How many handled events are still known by id after that, so that a second delivery is not handled again. */
  readonly rememberedEvents: number;
  /** How many finished turns are still known with their result; as many as ids, so that most duplicates are answered. */
  readonly rememberedTurns: number;
  /** The same in bytes of their results, which are in memory. */
  readonly rememberedTurnBytes: number;
  /** Answers not yet fetched; no turn starts while there are more (`E_OUTBOX_FULL`). */
  readonly outboxEntries: number;
  /** The oldest ones are dropped, with a warning, when there are more. */
  readonly deadLetters: number;
  /** Outbox and dead letters are written anew when they have this many lines, most of them of removed entries. */
  readonly queueCompactionLines: number;
  readonly archive: RotationLimits;
  readonly runtimeEvents: RotationLimits;
  readonly traces: TraceFileLimits;
}

export interface TraceFileLimits {
  /** Turns that are kept; the oldest go. */
  readonly turns: number;
  /** The same in bytes of their files. */
  readonly bytes: number;
  /** One turn's file; chains that come when it is full are not written, and a line says so. */
  readonly turnBytes: number;
}

/** A file that reaches `bytes` is put away under a number; the oldest of more than `files` of those are deleted. */
export interface RotationLimits {
  readonly bytes: number;
  readonly files: number;
}

const MEGABYTE = 1024 * 1024;

export const defaultLimits: StoreLimits = {
  inboxEvents: 1000,
  inboxBytes: 64 * MEGABYTE,
  inboxCompactionBytes: 256 * 1024,
  rememberedEvents: 1024,
  rememberedTurns: 1024,
  rememberedTurnBytes: 4 * MEGABYTE,
  outboxEntries: 1000,
  deadLetters: 1000,
  queueCompactionLines: 512,
  archive: { bytes: 16 * MEGABYTE, files: 64 },
  runtimeEvents: { bytes: 8 * MEGABYTE, files: 4 },
  traces: { turns: 200, bytes: 32 * MEGABYTE, turnBytes: 4 * MEGABYTE },
};
