/** The limits of the control socket, and what happens at each. */

const MEGABYTE = 1_000_000;

export const controlLimits = {
  /** Open streams and waiting requests. One more is rejected with `E_CONTROL_FULL`. */
  mostOpen: 256,
  /** Bytes of the body of `deliver` and `ask`. A longer one is rejected with `E_CONTROL_REQUEST`. */
  longestDelivery: 16 * MEGABYTE,
  /** Bytes of any other body. */
  longestBody: 64_000,
  /** Bytes of all bodies that are being read. One that needs more is rejected with `E_CONTROL_FULL`. */
  mostBodyBytes: 64 * MEGABYTE,
  /** The time for a body to arrive. A slower one is rejected with `E_CONTROL_REQUEST`. */
  bodyMs: 30_000,
  /**
   * Notices that wait for one reader. The oldest deltas, log lines and runtime events are dropped and counted; when too
   * many others wait, the stream is closed.
   */
  stream: { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE },
  /** The interval of heartbeats on a quiet stream. */
  heartbeatMs: 15_000,
  /** The time that `close` gives readers to receive waiting notices. */
  closeMs: 1_000,
};
