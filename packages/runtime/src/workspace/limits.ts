/** The limits for the files of an instance. The code that checks a limit says what happens there. */
export interface StoreLimits {
  /** Pending events; more are rejected with `E_INBOX_FULL`. */
  readonly inboxEvents: number;
  /** Pending events in bytes. */
  readonly inboxBytes: number;
  /** The size of the inbox file from which handled events are removed. */
  readonly inboxCompactionBytes: number;
  /** Handled events whose id stays known after that, so that a second delivery is not handled again. */
  readonly rememberedEvents: number;
  /** Finished turns whose result stays known; as many as ids, so that most duplicates get their answer. */
  readonly rememberedTurns: number;
  /** Results of finished turns in bytes of memory. */
  readonly rememberedTurnBytes: number;
  /** Answers that are not fetched yet; while there are more, no turn starts (`E_OUTBOX_FULL`). */
  readonly outboxEntries: number;
  /** Dead letters to keep; the oldest above this are dropped, with a warning. */
  readonly deadLetters: number;
  /** Outbox and dead letters are rewritten at this many lines, if most belong to removed entries. */
  readonly queueCompactionLines: number;
  readonly archive: RotationLimits;
  readonly runtimeEvents: RotationLimits;
  readonly traces: {
    /** Turns to keep; the oldest are deleted. */
    readonly turns: number;
    /** Files of kept turns in bytes. */
    readonly bytes: number;
    /** The file of one turn in bytes; later chains are not written, and a line says so. */
    readonly turnBytes: number;
  };
}

/** A file that reaches `bytes` is renamed to a numbered file; the oldest above `files` of those are deleted. */
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
