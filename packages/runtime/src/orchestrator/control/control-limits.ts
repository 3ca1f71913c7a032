/** The limits of the control socket, and what happens at each. */
import type { SendQueueDeps } from '../../ipc/channel/send-queue.ts';

export interface ControlLimits {
  /** Open streams and waiting requests. One more is rejected with `E_CONTROL_FULL`. */
  readonly mostOpen: number;
  /** Bytes of the body of `deliver` and `ask`. A longer one is rejected with `E_CONTROL_REQUEST`. */
  readonly longestDelivery: number;
  /** Bytes of any other body. */
  readonly longestBody: number;
  /** Bytes of all bodies that are being read. One that needs more is rejected with `E_CONTROL_FULL`. */
  readonly mostBodyBytes: number;
  /** The time for a body to arrive. A slower one is rejected with `E_CONTROL_REQUEST`. */
  readonly bodyMs: number;
  /**
   * Notices that wait for one reader. The oldest deltas, log lines and runtime events are dropped and counted; when too
   * many others wait, the stream is closed.
   */
  readonly stream: SendQueueDeps['limits'];
  /** The interval of heartbeats on a quiet stream. */
  readonly heartbeatMs: number;
  /** The time that `close` gives readers to receive waiting notices. */
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
