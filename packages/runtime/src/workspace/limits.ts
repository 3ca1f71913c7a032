/**
 * A file that reaches `bytes` is renamed to a numbered file. If more than `files` numbered files exist, the oldest are
 * deleted.
 */
export interface RotationLimits {
  readonly bytes: number;
  readonly files: number;
}

const MEGABYTE = 1024 * 1024;

/** The limits for the files of an instance. The code that checks a limit documents what happens when it is reached. */
export const defaultLimits = {
  /** The maximum number of pending events; further events are rejected with `E_INBOX_FULL`. */
  inboxEvents: 1000,
  /** The total size of pending events, in bytes. */
  inboxBytes: 64 * MEGABYTE,
  /** The size of a segment of the inbox log, in bytes. When it is reached, segments of handled events are removed. */
  inboxCompactionBytes: MEGABYTE,
  /** The number of handled events whose ids are kept after their removal, to recognize a second delivery. */
  rememberedEvents: 1024,
  /** The most ids of handled events in the memory of the process that accepts input, of all instances together. */
  inboxIds: 256 * 1024,
  /**
   * The number of finished turns whose results are kept. It equals `rememberedEvents`, so that most duplicates get
   * their answer.
   */
  rememberedTurns: 1024,
  /** The total size of kept results in memory, in bytes. */
  rememberedTurnBytes: 4 * MEGABYTE,
  /** The maximum number of answers that are not fetched yet; above it, no turn starts (`E_OUTBOX_FULL`). */
  outboxEntries: 1000,
  /** The number of dead letters to keep; above it, the oldest are dropped, with a warning. */
  deadLetters: 1000,
  /** The files of outbox and dead letters are rewritten at this many lines, if most lines belong to removed entries. */
  queueCompactionLines: 512,
  /** The segments of the log. */
  archive: { bytes: 16 * MEGABYTE, files: 64 },
  /** A checkpoint is written when the log has grown by this many bytes since the last one. */
  checkpointBytes: MEGABYTE,
  /** A base of at most this many bytes is in the checkpoint, so that it needs no file and no block of its own. */
  shortBaseBytes: 2 * 1024,
  /** The room at the end of the log: its first size in bytes, and the most bytes that it grows by. */
  logRoom: { first: 4 * 1024, most: 256 * 1024 },
  /** The index of instances is compacted when it has grown to this many bytes, and to twice its compacted size. */
  indexBytes: 4 * MEGABYTE,
  /** The files with the runtime events of all instances of a workspace. */
  runtimeEvents: { bytes: 8 * MEGABYTE, files: 4 },
  traces: {
    /** The trace files of a workspace: the size at which a file is full, and the number of files. */
    bytes: 8 * MEGABYTE,
    files: 32,
    /**
     * The bytes of one turn's trace. When a turn has so many, further chains are not written, and a line in the file
     * says so.
     */
    turnBytes: 4 * MEGABYTE,
  },
};

export type StoreLimits = Readonly<typeof defaultLimits>;
