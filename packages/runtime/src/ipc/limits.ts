/** Every bound of a channel, and what happens at it. */
export interface ChannelLimits {
  /** A frame on the wire. A longer message goes by file; a longer frame that comes in is skipped, `E_IPC_SIZE`. */
  readonly longestFrame: number;
  /** A message that goes by file. A longer one is refused, `E_IPC_SIZE`. */
  readonly longestFile: number;
  /** Messages handed to `send` and not yet to the system. At the bound `send` rejects, `E_IPC_FULL`. */
  readonly mostWaiting: number;
  readonly mostWaitingBytes: number;
  /** Of these, messages that may be lost. At the bound the oldest is dropped and counted. */
  readonly mostLossy: number;
  readonly mostLossyBytes: number;
  /**
   * What is taken from the other side. Past it reading pauses, and the other side has to wait. A frame counts one, and
   * so does each piece in which bytes come: single messages get half of this.
   */
  readonly framesPerSecond: number;
  readonly bytesPerSecond: number;
  /** Malformed frames. At the bound the channel closes: whoever is there does not speak our language. */
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
