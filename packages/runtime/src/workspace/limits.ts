/** A file that reaches `bytes` is renamed to a numbered file; the oldest above `files` of those are deleted. */
export interface RotationLimits {
  readonly bytes: number;
  readonly files: number;
}

const MEGABYTE = 1024 * 1024;

/** The limits for the files of an instance. The code that checks a limit says what happens there. */
export const defaultLimits = {
  /** Pending events; more are rejected with `E_INBOX_FULL`. */
  inboxEvents: 1000,
  /** Pending events in bytes. */
  inboxBytes: 64 * MEGABYTE,
  /** The size of the inbox file from which handled events are removed. */
  inboxCompactionBytes: 256 * 1024,
  /** Handled events whose id stays known after that, so that a second delivery is not handled again. */
  rememberedEvents: 1024,
  /** Finished turns whose result stays known; as many as ids, so that most duplicates get their answer. */
  rememberedTurns: 1024,
  /** Results of finished turns in bytes of memory. */
  rememberedTurnBytes: 4 * MEGABYTE,
  /** Answers that are not fetched yet; while there are more, no turn starts (`E_OUTBOX_FULL`). */
  outboxEntries: 1000,
  /** Dead letters to keep; the oldest above this are dropped, with a warning. */
  deadLetters: 1000,
  /** Outbox and dead letters are rewritten at this many lines, if most belong to removed entries. */
  queueCompactionLines: 512,
  archive: { bytes: 16 * MEGABYTE, files: 64 },
  runtimeEvents: { bytes: 8 * MEGABYTE, files: 4 },
  traces: {
    /** Turns to keep; the oldest are deleted. */
    turns: 200,
    /** Files of kept turns in bytes. */
    bytes: 32 * MEGABYTE,
    /** The file of one turn in bytes; later chains are not written, and a line says so. */
    turnBytes: 4 * MEGABYTE,
  },
};

export type StoreLimits = Readonly<typeof defaultLimits>;
