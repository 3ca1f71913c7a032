const MEGABYTE = 1_000_000;

/** The limits of a channel, and what happens at each. */
export const channelLimits = {
  /**
   * Bytes of a frame on the wire. A longer message goes by file; a longer incoming frame is skipped with `E_IPC_SIZE`.
   */
  longestFrame: MEGABYTE,
  /** Bytes of a message by file. A longer one is rejected with `E_IPC_SIZE`. */
  longestFile: 64 * MEGABYTE,
  /** Messages given to `send` and not yet to the system. At the limit `send` rejects with `E_IPC_FULL`. */
  mostWaiting: 1_000,
  mostWaitingBytes: 64 * MEGABYTE,
  /** Lossy messages among them. At the limit the oldest is dropped and counted. */
  mostLossy: 1_000,
  mostLossyBytes: 4 * MEGABYTE,
  /**
   * The reading speed. Above it reading pauses, and the other side has to wait. A frame counts one, and so does each
   * chunk of bytes: single messages get half of this.
   */
  framesPerSecond: 40_000,
  bytesPerSecond: 64 * MEGABYTE,
  /** Malformed frames. At the limit the channel closes: the other side is not our runner. */
  mostRefused: 100,
};

export type ChannelLimits = Readonly<typeof channelLimits>;
