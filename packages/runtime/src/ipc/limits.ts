const MEGABYTE = 1_000_000;

/** The limits of a channel, and the effect of each. */
export const channelLimits = {
  /**
   * The size of a frame in bytes. A longer message is sent by file; a longer incoming frame is rejected with
   * `E_IPC_SIZE`.
   */
  longestFrame: MEGABYTE,
  /** The size of a message that is sent by file, in bytes. A longer message is rejected with `E_IPC_SIZE`. */
  longestFile: 64 * MEGABYTE,
  /** The number of queued messages. At the limit, `send` rejects with `E_IPC_FULL`. */
  mostWaiting: 1_000,
  mostWaitingBytes: 64 * MEGABYTE,
  /** The number of queued lossy messages. At the limit, the oldest is dropped and counted. */
  mostLossy: 1_000,
  mostLossyBytes: 4 * MEGABYTE,
  /**
   * The maximum reading rate. When more arrives, reading pauses, and the other side has to wait. Each frame counts as
   * one, and so does each chunk of bytes. A message that arrives alone is both, so only half as many such messages are
   * read.
   */
  framesPerSecond: 40_000,
  bytesPerSecond: 64 * MEGABYTE,
};

export type ChannelLimits = Readonly<typeof channelLimits>;
