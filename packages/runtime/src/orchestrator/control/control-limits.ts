/** Every bound of the control socket, and what happens at it. */
import type { SendLimits } from '../../ipc/channel/send-queue.ts';

export interface ControlLimits {
  /** Streams and waiting questions at once. One more is refused, `E_CONTROL_FULL`. */
  readonly mostOpen: number;
  /** Bytes of the body of `deliver` and `ask`. A longer one is refused, `E_CONTROL_REQUEST`. */
  readonly longestDelivery: number;
  /** Bytes of any other body. */
  readonly longestBody: number;
  /** Bytes of all bodies that are being read. One that needs more is refused, `E_CONTROL_FULL`. */
  readonly mostBodyBytes: number;
  /** How long a body may take to come. A slower one is refused, `E_CONTROL_REQUEST`. */
  readonly bodyMs: number;
  /**
   * What waits for one reader. Of deltas, log lines and runtime events the oldest go, and are counted; when too much of
   * the rest waits, the stream is closed.
   */
  readonly stream: SendLimits;
  /** A stream on which nothing happens says so this often. */
  readonly heartbeatMs: number;
  /** How long `close` waits for readers to take what is meant for them. */
  readonly closeMs: number;
}

const MEGABYTE = 1_000_000;

export const controlLimits: ControlLimits = {
  mostOpen: 256,
  longestDelivery: 16 * MEGABYTE,
  longestBody: 64_000,
  mostBodyBytes: 64 * MEGABYTE,
  bodyMs: 30_000,
  stream: { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE },
  heartbeatMs: 15_000,
  closeMs: 1_000,
};
