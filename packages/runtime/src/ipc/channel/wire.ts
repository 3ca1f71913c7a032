/** The transport of a channel: bytes in order between two processes, or between two ends in a test. */
export interface Wire {
  /**
   * Returns the number of bytes that were accepted. Write the rest after `drain` was called. Returns -1 when the wire
   * is closed.
   */
  write(bytes: Uint8Array): number;
  /** Delays `data` and `closed` until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes this end. Bytes that were already accepted still arrive. */
  end(): void;
}

export interface WireEvents {
  data(chunk: Uint8Array): void;
  /** Called when `write` can be called again. */
  drain(): void;
  /** Called once, after the last `data`. */
  closed(): void;
}

export type OpenWire = (events: WireEvents) => Wire;
