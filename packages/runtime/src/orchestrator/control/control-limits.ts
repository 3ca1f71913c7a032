/** The limits of the control socket, and the effect of each. */

const MEGABYTE = 1_000_000;

export const controlLimits = {
  /** The number of open streams and waiting requests. Further ones are rejected with `E_CONTROL_FULL`. */
  mostOpen: 256,
  /**
   * The size of the body of `deliver` and `ask`, in bytes, without the base64 of files. A larger one is rejected with
   * `E_CONTROL_REQUEST`.
   */
  longestDelivery: 16 * MEGABYTE,
  /** The size of any other body, in bytes. */
  longestBody: 64_000,
  /**
   * The total size of all bodies that are being read, in bytes. A body that exceeds it is rejected with
   * `E_CONTROL_FULL`.
   */
  mostBodyBytes: 64 * MEGABYTE,
  /** The time in which a body must arrive. A slower body is rejected with `E_CONTROL_REQUEST`. */
  bodyMs: 30_000,
  /**
   * Notices that are queued for one reader. Above the limits for lossy notices, the oldest deltas, log lines and
   * runtime events are dropped and counted. Above the limits for other notices, the stream is closed.
   */
  stream: { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE },
  /**
   * The size of all notices that are queued for all readers together, in bytes. Each reader has an equal part of one half for
   * lossy notices. Above the limit, the stream for which most is queued is closed.
   */
  mostStreamBytes: 32 * MEGABYTE,
  /** The interval of heartbeats on a stream without events. */
  heartbeatMs: 15_000,
  /** The time that `close` gives readers to receive queued notices. */
  closeMs: 1_000,
};
