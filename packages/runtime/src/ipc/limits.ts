/** The limits of a channel, and what happens at each. */
export interface ChannelLimits {
  /**
   * Bytes of a frame on the wire. A longer message goes by file; a longer incoming frame is skipped with `E_IPC_SIZE`.
   */
  readonly longestFrame: number;
  /** Bytes of a message by file. A longer one is rejected with `E_IPC_SIZE`. */
  readonly longestFile: number;
  /** Messages given to `send` and not yet to the system. At the limit `send` rejects with `E_IPC_FULL`. */
  readonly mostWaiting: number;
  readonly mostWaitingBytes: number;
  /** Lossy messages among them. At the limit the oldest is dropped and counted. */
  readonly mostLossy: number;
  readonly mostLossyBytes: number;
  /**
   * The reading speed. Above it reading pauses, and the other side has to wait. A frame counts one, and so does each
   * chunk of bytes: single messages get half of this.
   */
  readonly framesPerSecond: number;
  readonly bytesPerSecond: number;
  /** Malformed frames. At the limit the channel closes: the other side is not our runner. */
  readonly mostRefused: number;
}

const MEGABYTE = 1_000_000;

export const channelLimits: ChannelLimits = {
  longestFrame: MEGABYTE,
  longestFile: 64 * MEGABYTE,
  mostWaiting: 1_000,
  mostWaitingBytes: 64 * MEGABYTE,
  mostLossy: 1_000,
  mostLossyBytes: 4 * MEGABYTE,
  framesPerSecond: 40_000,
  bytesPerSecond: 64 * MEGABYTE,
  mostRefused: 100,
};
